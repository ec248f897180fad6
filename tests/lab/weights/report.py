"""Makes the figures of the recordings, and writes results.json, of which the page is made.

    python -m tests.lab.weights.report

Another figure is made of the last long run this way, without playing that again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.interop.install import ROOT
from tests.lab.weights.figures import figures
from tests.lab.weights.recordings import saved

FOLDER = ROOT / "build" / "weights"
RESULTS = Path(__file__).resolve().parent / "results.json"
MACHINE = "machine.json"


def main() -> None:
    """Make the figures again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    write_results(parser.parse_args().folder)


def write_results(folder: Path) -> None:
    """Write the figures of all recordings of a folder."""
    machine = json.loads((folder / MACHINE).read_text("utf-8"))
    runs = ",\n".join(json.dumps(figures(run)) for run in saved(folder))
    RESULTS.write_text(f'{{"machine": {json.dumps(machine)}, "runs": [\n{runs}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
