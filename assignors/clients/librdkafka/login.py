"""Login modules of `sasl.jaas.config` as librdkafka's settings.

Each module of Kafka's has a table of its options; an option that is not in it is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.clients.librdkafka.jaas import LoginModule, parse_jaas
from assignors.clients.librdkafka.java_properties import Property, SettingsError

JAAS = "sasl.jaas.config"

_USER = {"username": "sasl.username", "password": "sasl.password"}

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "PlainLoginModule": _USER,
    "ScramLoginModule": _USER,
    "OAuthBearerLoginModule": {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
    "Krb5LoginModule": {
        "keyTab": "sasl.kerberos.keytab",
        "principal": "sasl.kerberos.principal",
        "serviceName": "sasl.kerberos.service.name",
    },
}
"""Login module -> its options, by librdkafka's names."""

NEEDLESS = {
    "Krb5LoginModule": frozenset({"doNotPrompt", "storeKey", "useKeyTab", "useTicketCache"}),
}
"""Options that librdkafka needs no equal of: it has a key tab, or uses the ticket cache."""

FIXED = {"OAuthBearerLoginModule": {"sasl.oauthbearer.method": "oidc"}}
"""What a module means beside its options."""

MECHANISMS = {
    "PlainLoginModule": ("PLAIN",),
    "ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "OAuthBearerLoginModule": ("OAUTHBEARER",),
    "Krb5LoginModule": ("GSSAPI",),
}
"""Login module -> the mechanisms it is for."""

DEFAULT_MECHANISM = "GSSAPI"
"""`sasl.mechanism` where a Java client has none."""


def login_settings(given: Mapping[str, Property]) -> dict[str, str]:
    """Return the settings of the login module; nothing where there is none.

    Raises `SettingsError`, without any value of the setting: one of them is the password.
    """
    jaas = given.get(JAAS)
    if jaas is None:
        return {}
    try:
        module = parse_jaas(jaas.value)
        _require_mechanism(module, given)
        return {**FIXED.get(module.short_name, {}), **_options(module)}
    except ValueError as error:
        raise SettingsError(f"line {jaas.line}: {JAAS} {error}") from error


def _require_mechanism(module: LoginModule, given: Mapping[str, Property]) -> None:
    if module.short_name not in OPTIONS:
        raise ValueError(f"names the login module {module.name}, which librdkafka does not have")
    chosen = given.get("sasl.mechanism")
    mechanism = DEFAULT_MECHANISM if chosen is None else chosen.value.strip()
    if mechanism not in MECHANISMS[module.short_name]:
        names = " or ".join(MECHANISMS[module.short_name])
        text = f"names {module.short_name}, which is for {names}; sasl.mechanism is {mechanism}"
        raise ValueError(text)


def _options(module: LoginModule) -> dict[str, str]:
    names = OPTIONS[module.short_name]
    needless = NEEDLESS.get(module.short_name, frozenset())
    unknown = [name for name in module.options if name not in names and name not in needless]
    if unknown:
        raise ValueError(f"has an option that librdkafka does not have: {unknown[0]}")
    return {names[name]: text for name, text in module.options.items() if name in names}
