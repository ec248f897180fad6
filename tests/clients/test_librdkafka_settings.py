"""A Java client's file of settings as librdkafka's: what is mapped, noted, and refused by place.

`tests/foreign/test_settings_live.py` has Java's classes judge how the file itself is read.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException

from assignors.clients.librdkafka.java_properties import SettingsError
from assignors.clients.librdkafka.settings import (
    OTHER_NAME,
    SAME_NAME,
    WITHOUT_EFFECT,
    ClientSettings,
    read_settings,
)
from tests.conftest import need

SECRET = "tops3cret"  # noqa: S105 - nobody's
PEM = "-----BEGIN CERTIFICATE-----\n"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def settings(folder: Path, *lines: str) -> ClientSettings:
    file = folder / "client.properties"
    file.write_text("\n".join(lines))
    return read_settings(file)


def login(module: str, options: str) -> str:
    return f"sasl.jaas.config=org.apache.kafka.common.security.{module} required {options};"


LOGINS = [
    (
        "PLAIN",
        login("plain.PlainLoginModule", f'username="me" password="{SECRET}"'),
        {"sasl.username": "me", "sasl.password": SECRET},
    ),
    (
        "SCRAM-SHA-512",
        login("scram.ScramLoginModule", f"username='me' password='{SECRET}'"),
        {"sasl.username": "me", "sasl.password": SECRET},
    ),
    (
        "OAUTHBEARER",
        login(
            "oauthbearer.OAuthBearerLoginModule",
            f'clientId="me" clientSecret="{SECRET}" scope="kafka"',
        ),
        {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "me",
            "sasl.oauthbearer.client.secret": SECRET,
            "sasl.oauthbearer.scope": "kafka",
        },
    ),
]


@pytest.mark.parametrize(("mechanism", "line", "expected"), LOGINS)
def test_a_login_of_java_is_one_that_librdkafka_takes(
    tmp_path: Path, mechanism: str, line: str, expected: dict[str, str]
) -> None:
    lines = ["security.protocol=sasl_ssl", f"sasl.mechanism={mechanism}", line]
    if mechanism == "OAUTHBEARER":
        lines.append("sasl.oauthbearer.token.endpoint.url=https://127.0.0.1:1/token")
    found = settings(tmp_path, *lines)
    assert expected.items() <= found.options.items()
    assert found.options["security.protocol"] == "SASL_SSL"
    assert SECRET not in repr(found)
    Consumer({**found.options, "group.id": "unused"}).close()


def test_a_ticket_of_kerberos_is_mapped(tmp_path: Path) -> None:
    module = "com.sun.security.auth.module.Krb5LoginModule required"
    options = 'useKeyTab=true storeKey=true keyTab="/etc/me.keytab" principal="me@REALM"'
    found = settings(tmp_path, f"sasl.jaas.config={module} {options};")
    assert found.options == {
        "sasl.kerberos.keytab": "/etc/me.keytab",
        "sasl.kerberos.principal": "me@REALM",
    }


def test_every_name_is_one_that_librdkafka_knows() -> None:
    """Whether it takes a value is another matter."""

    def is_known(name: str) -> bool:
        try:
            Consumer({name: "1", "group.id": "unused"}).close()
        except KafkaException as error:
            return "No such configuration property" not in str(error)
        return True

    assert [name for name in SAME_NAME | set(OTHER_NAME.values()) if not is_known(name)] == []
    assert not is_known("no.such.setting")
    assert not WITHOUT_EFFECT & (SAME_NAME | set(OTHER_NAME))


def test_settings_of_a_group_are_noted_with_their_line(tmp_path: Path) -> None:
    found = settings(tmp_path, "# mine", "group.id=billing", "client.id=me", "max.poll.records=5")
    assert found.options == {"client.id": "me"}
    assert found.notes == (
        "line 2: group.id is not used: no group is joined",
        "line 4: max.poll.records is not used: no group is joined",
    )


@pytest.mark.parametrize(("value", "expected"), [("", "none"), ("HTTPS", "https")])
def test_the_name_of_the_host_is_checked_or_not(tmp_path: Path, value: str, expected: str) -> None:
    """Empty is Java's word for not; nothing at all is the default of both, to check it."""
    name = "ssl.endpoint.identification.algorithm"
    assert settings(tmp_path, f"{name}={value}").options == {name: expected}
    assert settings(tmp_path, "").options == {}


def test_other_brokers_replace_those_of_the_file(tmp_path: Path) -> None:
    found = settings(tmp_path, "bootstrap.servers=a:1")
    assert found.where == "a:1"
    assert found.at("b:2").where == found.at("b:2").java["bootstrap.servers"] == "b:2"


REFUSED = [
    ("ssl.cipher.suites=X", "line 2: ssl.cipher.suites: librdkafka has no such setting"),
    ("security.protocol=TLS", "line 2: security.protocol: none of PLAINTEXT, SASL_PLAINTEXT, "),
    ("sasl.mechanism=MD5", "line 2: sasl.mechanism: none of GSSAPI, "),
    ("ssl.endpoint.identification.algorithm=ldaps", "line 2: ssl.endpoint.identification.algo"),
    (f"config.providers={SECRET}", "line 2: config.providers: librdkafka has no such setting"),
    ("client.id=\\u00zz", "line 2: \\u without four hexadecimal digits"),
    (f"sasl.jaas.config={PLAIN} required password={SECRET}", "does not end in ';'"),
    (f"sasl.jaas.config={PLAIN} password={SECRET};", "has no 'required' behind the login module"),
    (f'sasl.jaas.config={PLAIN} required password="{SECRET};', "is a quote missing?"),
    (f"sasl.jaas.config={PLAIN} required username {SECRET};", "option number 1 without '='"),
    (f"sasl.jaas.config={PLAIN} required username=;", "no value for option number 1"),
    (f'sasl.jaas.config={PLAIN} required = = "{SECRET}";', "option number 1 without '='"),
    (f'sasl.jaas.config=x.My required password="{SECRET}";', "the login module x.My, which lib"),
    (
        f'sasl.jaas.config={PLAIN} required password="{SECRET}";',
        "names PlainLoginModule, which is for PLAIN; sasl.mechanism is SCRAM-SHA-256",
    ),
    (
        login("scram.ScramLoginModule", f'tokenauth="true" password="{SECRET}"'),
        "has an option that librdkafka does not have: tokenauth",
    ),
    ("sasl.jaas.config=", "line 2: sasl.jaas.config names no login module"),
    ("ssl.truststore.location=/no/such/file", "line 2: ssl.truststore.location: /no/such/file: "),
    ("ssl.keystore.location=/no/such/file", "line 2: ssl.keystore.location: /no/such/file: No su"),
]


@pytest.mark.parametrize(("line", "words"), REFUSED)
def test_what_cannot_be_mapped_is_refused_by_its_line_and_without_its_value(
    tmp_path: Path, line: str, words: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, "sasl.mechanism=SCRAM-SHA-256", line)
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / 'client.properties'}: line 2: ")
    assert words in text
    assert SECRET not in text
    assert len(text.splitlines()) == 1


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.properties: No such file"):
        read_settings(tmp_path / "none.properties")


def test_stores_are_what_is_in_them(tmp_path: Path) -> None:
    """Java's default kind is JKS: a file of PEM without its type is taken for what it is."""
    pem = tmp_path / "ca.pem"
    pem.write_text(f"a bag attribute\n{PEM}")
    found = settings(tmp_path, f"ssl.truststore.location={pem}", f"ssl.keystore.location={pem}")
    assert found.options == {
        "ssl.ca.location": str(pem),
        "ssl.certificate.location": str(pem),
        "ssl.key.location": str(pem),
    }
    assert found.java["ssl.truststore.type"] == found.java["ssl.keystore.type"] == "PEM"
    for store in ("truststore", "keystore"):
        line = f"ssl.{store}.password={SECRET}"
        with pytest.raises(SettingsError, match=f"line 2: ssl.{store}.password: a PEM file has no"):
            settings(tmp_path, f"ssl.{store}.location={pem}", line)


def test_a_key_store_of_pkcs_12_is_taken(tmp_path: Path) -> None:
    need("openssl")
    key, store = tmp_path / "key.pem", tmp_path / "key.p12"
    made = ("-keyout", str(key), "-out", str(key), "-subj", "/CN=me", "-days", "1")
    program("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made)
    program(
        *("openssl", "pkcs12", "-export", "-in", str(key), "-out", str(store)),
        *("-passout", f"pass:{SECRET}"),
    )
    for password in (SECRET, "wrong"):
        keys = (f"ssl.keystore.location={store}", f"ssl.keystore.password={password}")
        found = settings(tmp_path, "security.protocol=SSL", *keys)
        if password == SECRET:
            Consumer({**found.options, "group.id": "unused"}).close()
        else:
            with pytest.raises(KafkaException, match="keystore"):
                Consumer({**found.options, "group.id": "unused"})


def test_a_store_of_java_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    store = tmp_path / "ca.pem"
    store.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    for kind, words in (("truststore", "keytool -list -rfc"), ("keystore", "keytool -importkey")):
        with pytest.raises(SettingsError, match=words):
            settings(tmp_path, f"ssl.{kind}.location={store}")


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_store_of_java_is_refused_with_the_command_that_converts_it(
    tmp_path: Path, kind: str
) -> None:
    """Made by keytool; the command of the sentence is run, and what it writes is taken."""
    need("keytool")
    store = tmp_path / "store"
    names = ["-alias", "me", "-dname", "CN=me", "-keyalg", "EC", "-storepass", SECRET]
    program("keytool", "-genkeypair", *names, "-storetype", kind, "-keystore", str(store))
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, f"ssl.truststore.location={store}")
    assert f"keytool -list -rfc -keystore {store} > ca.pem" in str(caught.value)
    made = tmp_path / "ca.pem"
    made.write_bytes(
        program("keytool", "-list", "-rfc", "-keystore", str(store), "-storepass", SECRET)
    )
    found = settings(tmp_path, "security.protocol=SSL", f"ssl.truststore.location={made}")
    Consumer({**found.options, "group.id": "unused"}).close()


def program(*words: str) -> bytes:
    return subprocess.run(words, check=True, capture_output=True).stdout
