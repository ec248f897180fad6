"""Key and trust stores of Java as librdkafka takes them: PEM, and PKCS #12 for keys.

Which kind a store is, is read from the file: `ssl.truststore.type` is seldom right where it is
missing, as Java's default is JKS. What librdkafka cannot read is refused with the command that
converts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assignors.clients.librdkafka.java_properties import Property, SettingsError

STORES = frozenset(
    f"ssl.{store}.{part}"
    for store in ("truststore", "keystore")
    for part in ("location", "password", "type")
)

_JKS = b"\xfe\xed\xfe\xed"
_PEM = b"-----BEGIN "
_HEAD_BYTES = 1 << 16
_TO_PEM = "keytool -list -rfc -keystore {} > ca.pem writes its certificates as PEM"
_TO_PKCS12 = (
    "keytool -importkeystore -srckeystore {} -destkeystore key.p12 -deststoretype PKCS12 "
    "converts it"
)


def store_settings(given: Mapping[str, Property]) -> dict[str, str]:
    """Return librdkafka's settings of both stores; `SettingsError` for a kind it cannot read."""
    trust = given.get("ssl.truststore.location")
    keys = given.get("ssl.keystore.location")
    return {
        **({} if trust is None else _trust_store(trust, given)),
        **({} if keys is None else _key_store(keys, given)),
    }


def java_store_types(given: Mapping[str, Property]) -> dict[str, str]:
    """Return the kinds of the stores as settings of Java, which does not look into them."""
    return {
        f"ssl.{store}.type": _kind(location)
        for store in ("truststore", "keystore")
        if (location := given.get(f"ssl.{store}.location")) is not None
    }


def _trust_store(location: Property, given: Mapping[str, Property]) -> dict[str, str]:
    if _kind(location) != "PEM":
        raise _refused(location, "librdkafka reads trusted certificates as PEM", _TO_PEM)
    _refuse_password(given, "ssl.truststore.password")
    return {"ssl.ca.location": location.value}


def _key_store(location: Property, given: Mapping[str, Property]) -> dict[str, str]:
    kind = _kind(location)
    if kind == "PEM":
        _refuse_password(given, "ssl.keystore.password")
        return {
            "ssl.certificate.location": location.value,
            "ssl.key.location": location.value,
        }
    if kind == "JKS":
        raise _refused(location, "librdkafka reads keys as PEM or PKCS #12", _TO_PKCS12)
    password = given.get("ssl.keystore.password")
    return {
        "ssl.keystore.location": location.value,
        **({} if password is None else {"ssl.keystore.password": password.value}),
    }


def _kind(location: Property) -> str:
    """Return what a store is, by its first bytes: PEM, JKS or PKCS12."""
    try:
        with Path(location.value).open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        place = f"line {location.line}: {location.key}"
        raise SettingsError(f"{place}: {location.value}: {error.strerror}") from error
    if head.startswith(_JKS):
        return "JKS"
    return "PEM" if _PEM in head else "PKCS12"


def _refused(location: Property, reason: str, command: str) -> SettingsError:
    place = f"line {location.line}: {location.key}"
    return SettingsError(f"{place}: {reason}: {command.format(location.value)}")


def _refuse_password(given: Mapping[str, Property], key: str) -> None:
    """Refuse a password for a PEM file, as Java does; a password of the key stands elsewhere."""
    password = given.get(key)
    if password is not None:
        text = "a PEM file has no password of its own (that of a key is ssl.key.password)"
        raise SettingsError(f"line {password.line}: {key}: {text}")
