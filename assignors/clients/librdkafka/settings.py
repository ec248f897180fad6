"""Settings of a Java client, from the file that Kafka's own tools take, as librdkafka's.

Most settings have a namesake or an equal there. Those about groups, deserialisation and fetching
have no effect where no group is joined: they are noted. All others are refused, with the line and
the key: a setting that is left out in silence may be the one that protects a password.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from assignors.clients.librdkafka.java_properties import (
    Property,
    SettingsError,
    parse_properties,
)
from assignors.clients.librdkafka.login import login_settings
from assignors.clients.librdkafka.stores import STORES, java_store_types, store_settings

BOOTSTRAP = "bootstrap.servers"

SAME_NAME = frozenset(
    {
        *(BOOTSTRAP, "client.id", "client.rack", "client.dns.lookup", "connections.max.idle.ms"),
        *("metadata.max.age.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms"),
        *("retry.backoff.ms", "retry.backoff.max.ms", "socket.connection.setup.timeout.ms"),
        *("sasl.mechanism", "sasl.kerberos.service.name", "security.protocol"),
        "sasl.kerberos.min.time.before.relogin",
        *("sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope"),
    }
)
"""Settings that librdkafka has under the same name, with the same values."""

OTHER_NAME = {
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.key.password": "ssl.key.password",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
"""Java's name -> librdkafka's."""

WITHOUT_EFFECT = frozenset(
    {
        *("allow.auto.create.topics", "auto.commit.interval.ms", "auto.offset.reset"),
        *("default.api.timeout.ms", "enable.auto.commit", "exclude.internal.topics"),
        *("fetch.max.bytes", "fetch.max.wait.ms", "fetch.min.bytes", "group.id"),
        *("group.instance.id", "group.protocol", "group.remote.assignor"),
        *("heartbeat.interval.ms", "isolation.level", "key.deserializer"),
        *("max.partition.fetch.bytes", "max.poll.interval.ms", "max.poll.records"),
        *("partition.assignment.strategy", "session.timeout.ms", "value.deserializer"),
    }
)
"""Settings of a consumer in a group: this one joins none."""

PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})
MECHANISMS = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """What a client is made with."""

    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """librdkafka's settings; secrets are among them."""
    java: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The same as a client in Java (Spark's) takes them."""
    notes: tuple[str, ...] = ()
    """Sentences on what the file holds and is not used."""

    @property
    def where(self) -> str:
        """Return the brokers to start from, `host:port[,host:port]`; empty if none is named."""
        return self.options.get(BOOTSTRAP, "")

    def at(self, bootstrap: str) -> ClientSettings:
        """Return the same settings for other brokers."""
        brokers = {BOOTSTRAP: bootstrap}
        return replace(self, options={**self.options, **brokers}, java={**self.java, **brokers})


def read_settings(path: str | Path) -> ClientSettings:
    """Return the settings in a file.

    Raises `SettingsError` where it cannot be read, or holds what this client does not have.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from error
    try:
        return settings_of(parse_properties(data))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error


def settings_of(properties: list[Property]) -> ClientSettings:
    """Return the settings as librdkafka's; `SettingsError` names the first that has no equal.

    >>> settings_of([Property(key="security.protocol", value="ssl", line=1)]).options
    {'security.protocol': 'SSL'}
    """
    given = {each.key: each for each in properties}
    options: dict[str, str] = {}
    notes = []
    for each in given.values():
        if each.key in WITHOUT_EFFECT:
            notes.append(f"line {each.line}: {each.key} is not used: no group is joined")
        else:
            options |= _mapped(each)
    return ClientSettings(
        options={**options, **login_settings(given), **store_settings(given)},
        java={
            **{key: each.value for key, each in given.items() if key not in WITHOUT_EFFECT},
            **java_store_types(given),
        },
        notes=tuple(notes),
    )


def _mapped(each: Property) -> dict[str, str]:
    """Return a setting that means the same whatever the others are; nothing for the rest."""
    if each.key in _CHECKED:
        return _CHECKED[each.key](each)
    if each.key in SAME_NAME:
        return {each.key: each.value}
    if each.key in OTHER_NAME:
        return {OTHER_NAME[each.key]: each.value}
    if each.key in STORES or each.key == "sasl.jaas.config":
        return {}
    raise SettingsError(f"line {each.line}: {each.key}: librdkafka has no such setting")


def _protocol(each: Property) -> dict[str, str]:
    return {each.key: _one_of(each, PROTOCOLS, each.value.strip().upper())}


def _mechanism(each: Property) -> dict[str, str]:
    return {each.key: _one_of(each, MECHANISMS, each.value.strip())}


def _host_check(each: Property) -> dict[str, str]:
    value = each.value.strip().lower()
    return {each.key: _one_of(each, frozenset({"https", "none"}), value or "none")}


def _one_of(each: Property, known: frozenset[str], value: str) -> str:
    if value not in known:
        names = ", ".join(sorted(known))
        raise SettingsError(f"line {each.line}: {each.key}: none of {names}")
    return value


_CHECKED: dict[str, Callable[[Property], dict[str, str]]] = {
    "sasl.mechanism": _mechanism,
    "security.protocol": _protocol,
    "ssl.endpoint.identification.algorithm": _host_check,
}
