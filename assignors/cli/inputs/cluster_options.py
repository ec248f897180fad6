"""The options that name a cluster: `--bootstrap` and `--command-config`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from assignors.cli.inputs.extras import needed_by

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings

config_option = click.option(
    "--command-config",
    "config",
    type=click.Path(dir_okay=False),
    help="Settings of the client, a properties file as Kafka's own tools take it (SASL, TLS).",
)


def cluster_settings(bootstrap: str | None, config: str | None) -> ClientSettings:
    """Return the settings of the client, and print what in its file is not used.

    A usage error says which package is missing, what the file holds that this client does not
    have, or that nothing names a broker.
    """
    with needed_by("a live cluster", "dump"):
        from assignors.clients.librdkafka import connection  # noqa: F401, PLC0415 - an extra
    # Files need none of these, which take a fiftieth of the time of `replay --help`.
    from assignors.clients.librdkafka.java_properties import SettingsError  # noqa: PLC0415 - above
    from assignors.clients.librdkafka.settings import (  # noqa: PLC0415 - above
        ClientSettings,
        read_settings,
    )

    try:
        settings = ClientSettings() if config is None else read_settings(config)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    for note in settings.notes:
        sys.stderr.write(f"{config}: {note}\n")
    if bootstrap is not None:
        if not bootstrap.strip():
            raise click.UsageError("--bootstrap names no broker")
        return settings.at(bootstrap)
    if not settings.where:
        raise click.UsageError("name a broker with --bootstrap")
    return settings
