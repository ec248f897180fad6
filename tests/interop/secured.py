"""A broker with a password, a certificate and permissions: settings, users, files of clients.

Who comes without security may do everything: it makes the groups. With a password, `reader` may
describe and read the offsets topic, `guest` may only describe it, `stranger` nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from tests.interop.broker import Broker

PASSWORD = 'a "quoted" pass=word; with \\ in it'  # noqa: S105 - of a broker that lives for a test
USERS = ("reader", "guest", "stranger")
LISTENERS = {"LOGIN": "SASL_PLAINTEXT", "TLS": "SSL"}
OPENSSL = "openssl"
OFFSETS = "__consumer_offsets"

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.login.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
}


@contextmanager
def secured_broker(folder: Path) -> Iterator[Broker]:
    """Provide the broker; its certificate is `certificate.pem` in the folder."""
    key, certificate = _certificate(folder)
    store = folder / "broker.pem"
    store.write_bytes(key.read_bytes() + certificate.read_bytes())
    users = " ".join(f'user_{name}="{_quoted(PASSWORD)}"' for name in USERS)
    plain = f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};"
    settings = {
        **SETTINGS,
        "listener.name.login.plain.sasl.jaas.config": _escaped(plain),
        "listener.name.tls.ssl.keystore.type": "PEM",
        "listener.name.tls.ssl.keystore.location": str(store),
    }
    with Broker(settings, listeners=LISTENERS) as broker:
        _permit(broker)
        yield broker


def login_file(
    folder: Path, user: str, *, password: str = PASSWORD, mechanism: str = "PLAIN"
) -> Path:
    """Return a file of settings with which a user logs in, as Kafka's tools take it."""
    module = {"PLAIN": "plain.PlainLoginModule"}.get(mechanism, "scram.ScramLoginModule")
    options = f'username="{user}" password="{_quoted(password)}"'
    file = folder / f"{user}.properties"
    file.write_text(
        "# as for kafka-console-consumer\n"
        "security.protocol=SASL_PLAINTEXT\n"
        f"sasl.mechanism={mechanism}\n"
        f"sasl.jaas.config=org.apache.kafka.common.security.{module} required \\\n"
        f"  {_escaped(options)};\n"
    )
    return file


def tls_file(folder: Path, certificate: Path) -> Path:
    """Return a file of settings that trusts a certificate."""
    file = folder / "tls.properties"
    file.write_text(f"security.protocol=SSL\nssl.truststore.location={certificate}\n")
    return file


def _certificate(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    made = ("-keyout", str(key), "-out", str(certificate), "-days", "2")
    subprocess.run(
        [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, *made],
        check=True,
        capture_output=True,
    )
    return key, certificate


def _permit(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    permission = AclPermissionType.ALLOW
    allowed = [
        ("reader", AclOperation.READ),
        ("reader", AclOperation.DESCRIBE),
        ("guest", AclOperation.DESCRIBE),
    ]
    pattern = ResourcePatternType.LITERAL
    rules = [
        AclBinding(ResourceType.TOPIC, OFFSETS, pattern, f"User:{user}", "*", operation, permission)
        for user, operation in allowed
    ]
    for made in admin.create_acls(rules).values():
        made.result(30)
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    changes: list[UserScramCredentialAlteration] = [
        UserScramCredentialUpsertion("reader", scram, PASSWORD.encode())
    ]
    for changed in admin.alter_user_scram_credentials(changes).values():
        changed.result(30)


def _quoted(text: str) -> str:
    """Return a text as it stands between the quotes of a JAAS configuration."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _escaped(text: str) -> str:
    """Return a text as it stands in a file of properties."""
    return text.replace("\\", "\\\\")
