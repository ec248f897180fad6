"""Options that are typed twice where the last alone would count.

Apart from `idle_options`, which knows assignors: `--help` does not wait for those.
"""

from __future__ import annotations

from collections import Counter

import click


def refuse_repeated(command: click.Command, context: click.Context, arguments: list[str]) -> None:
    """Raise `click.UsageError` for an option that is typed twice where the last alone would count.

    What click cannot parse is for click to refuse.
    """
    try:
        _, _, order = command.make_parser(context).parse_args(args=[*arguments])
    except click.UsageError:
        return
    for option, count in Counter(order).items():
        if isinstance(option, click.Option) and count > 1 and not option.multiple:
            if option.is_flag and not option.secondary_opts:
                continue
            words = f"{option.opts[0]} is given {count} times, and only one can count"
            if option.name == "assignor":
                words += "; --compare takes several"
            raise click.UsageError(words, context)
