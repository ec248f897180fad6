"""Compares what the gallery's scenarios give with `gallery/expected.json`; writes new bounds.

    python -m tests.docs.expected_figures                  # all that differs, over 20 seeds
    python -m tests.docs.expected_figures crash --write    # new bounds for one scenario

Run it after a change of defaults or of the engine, read the differences, and write them when each
one is explained. A figure that is the same for every seed is one number. One that is not has
bounds a tenth wider than what was measured; bounds that still hold are kept. A new scenario lists
its figures with any number: `{"classic": {"rounds": 0}}`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from math import floor, log10
from pathlib import Path
from typing import Any

from assignors.simulation.timed import gallery
from assignors.simulation.timed.gallery import GALLERY, SOUND, named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate

FILE = Path(gallery.__file__).parent / "expected.json"
SEEDS = 20
WIDER = 0.1
"""By this share of a bound."""


def measured(job: tuple[str, GroupProtocol, int]) -> dict[str, list[Any]]:
    """Return each figure's values over so many seeds."""
    name, protocol, seeds = job
    figures = {**SOUND, **GALLERY[name].expected[protocol]}
    results = [simulate(named(name, seed=seed, protocol=protocol)).result for seed in range(seeds)]
    return {figure: [getattr(one, figure) for one in results] for figure in figures}


def bounds(values: list[Any], expected: Any) -> Any:
    """Return what to expect of a figure with these values; `expected` where it holds."""
    if isinstance(expected, tuple):
        if all(expected[0] <= value <= expected[1] for value in values):
            return expected
    elif all(value == expected for value in values):
        return expected
    least, greatest = min(values), max(values)
    if least == greatest:
        return least
    return _rounded(least * (1 - WIDER), floor), _rounded(greatest * (1 + WIDER), _up)


def _up(number: float) -> int:
    return -floor(-number)


def _rounded(number: float, to_integer: Any) -> int:
    """Return a number with two significant digits, rounded down or up."""
    if number <= 0:
        return 0
    unit = 10 ** max(floor(log10(number)) - 1, 0)
    return int(to_integer(number / unit) * unit)


def differences(
    names: Iterable[str], seeds: int
) -> Iterator[tuple[str, GroupProtocol, str, Any, Any]]:
    """Yield each figure that is not as expected: what is expected, and the new bounds."""
    jobs = [(name, protocol, seeds) for name in names for protocol in GALLERY[name].expected]
    with ProcessPoolExecutor() as pool:
        for (name, protocol, _), figures in zip(jobs, pool.map(measured, jobs), strict=True):
            wanted = {**SOUND, **GALLERY[name].expected[protocol]}
            for figure, values in figures.items():
                new = bounds(values, wanted[figure])
                if new != wanted[figure]:
                    yield name, protocol, figure, wanted[figure], new


def write(changes: Iterable[tuple[str, GroupProtocol, str, Any, Any]]) -> None:
    """Write new bounds into the file."""
    chapters = json.loads(FILE.read_text(encoding="utf-8"))
    entries = {name: one for each in chapters for name, one in each["scenarios"].items()}
    for name, protocol, figure, _, new in changes:
        entries[name]["expected"][protocol.value][figure] = new
    FILE.write_text(_laid_out(chapters), encoding="utf-8")


def _laid_out(value: Any, depth: int = 0) -> str:
    """Return JSON in lines; an object or a list of numbers and names is one line."""
    entries = list(value.values()) if isinstance(value, dict) else value
    is_flat = not isinstance(value, dict | list) or not any(
        isinstance(each, dict) for each in entries
    )
    if is_flat and ("shows" not in value if isinstance(value, dict) else True):
        return json.dumps(value, ensure_ascii=False)
    inner = "  " * (depth + 1)
    if isinstance(value, dict):
        lines = [
            f"{inner}{json.dumps(key)}: {_laid_out(one, depth + 1)}" for key, one in value.items()
        ]
    else:
        lines = [inner + _laid_out(one, depth + 1) for one in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n" + ",\n".join(lines) + f"\n{'  ' * depth}{end}" + ("" if depth else "\n")


def main() -> None:
    """Print what differs, and write it if that is asked for."""
    parser = argparse.ArgumentParser(description="Figures of the gallery that differ.")
    parser.add_argument("names", nargs="*", help="of scenarios; all of them if none is given")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--write", action="store_true", help="new bounds into expected.json")
    asked = parser.parse_args()
    found = []
    for name, protocol, figure, old, new in differences(asked.names or GALLERY, asked.seeds):
        print(f"{name} {protocol.value} {figure}: expected {_shown(old)}, measured {_shown(new)}")
        found.append((name, protocol, figure, old, new))
    if asked.write:
        write(found)


def _shown(value: Any) -> str:
    return " to ".join(map(str, value)) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    main()
