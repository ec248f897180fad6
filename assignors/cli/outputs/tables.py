"""Draw answers as tables, with the column names of Kafka's `kafka-consumer-groups.sh`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from assignors.cli.outputs.cells import (
    NONE,
    NUMBERS_SHOWN,
    Fields,
    cell,
    clean,
    console_of,
    dumps,
    most,
    names_cell,
    partitions_cell,
)
from assignors.cli.outputs.table import Table, wrapped

if TYPE_CHECKING:
    from rich.console import Console


def figure_cells(document: Fields, shown: Mapping[str, tuple[str, int]]) -> list[str]:
    """Return the figures of a row; `shown` is its key -> heading, digits behind the point."""
    return [f"{document[name]:,.{digits}f}" for name, (_, digits) in shown.items()]


def print_failed(console: Console, document: Fields, what: object) -> None:
    """Print why a run has no figures."""
    text = str(document["error"]).partition("\n")[0]
    console.print(clean(f"{what}: {text}"), style="red")


def show_decoded(kind: str, documents: Iterable[Fields]) -> None:
    """Draw one row a blob; of a frame with several, one row each."""
    headers = {
        "subscription": ["VERSION", "GENERATION", "TOPICS", "OWNED", "RACK", "USER-DATA"],
        "assignment": ["VERSION", "ASSIGNMENT", "USER-DATA"],
    }.get(kind, ["GENERATION", "OWNED"])
    table = Table.of("LINE", *headers, "NOTES", right=("LINE", "VERSION", "GENERATION"))
    said = []
    for line, document in enumerate(documents, 1):
        notes = document["notes"]
        said += [f"line {line}: {note['text']}" for note in notes if note["code"] in INPUT_NOTES]
        value = document["value"]
        frame = document.get("frame") or {}
        parts = frame.get("parts", ())
        parts = parts if len(parts) > 1 else ()  # the line has what is said of a single one
        cells = _decoded_cells(kind, value) if value else [NONE] * len(headers)
        table.add_row(str(line), *cells, _remarks(document))
        for part in parts:
            cells = _decoded_cells(kind, part["value"]) if part["value"] else [NONE] * len(headers)
            remarks = _remarks(part)
            table.add_row("", *cells, clean(part["owner"]) if remarks == NONE else remarks)
    console = console_of()
    console.print(table)
    for sentence in said:
        print_wrapped(console, clean(sentence), "dim", indent="  ")


SHOWN = 160
"""Most characters of a value of a record on a terminal."""

INPUT_NOTES = {"input-form", "input-frame"}
"""Codes of notes on how the input was read: sentences about a line, which no column fits."""


def _decoded_cells(kind: str, value: Fields) -> list[str]:
    owned = partitions_cell(value.get("owned") or value.get("partitions"))
    generation = cell(value.get("generation"), absent=-1)
    if kind == "subscription":
        cells = [cell(value["version"]), generation, names_cell(value["topics"]), owned]
        return [*cells, cell(value["rack_id"]), _blob_cell(value["user_data"])]
    if kind == "assignment":
        return [cell(value["version"]), owned, _blob_cell(value["user_data"])]
    return [generation, owned]


def show_records(documents: Iterable[Fields]) -> None:
    """Draw one row a record, and one for each part of its members' bytes."""
    right = ("LINE", "VERSION")
    table = Table.of("LINE", "TYPE", "KEY", "VERSION", "VALUE", "NOTES", right=right)
    for line, document in enumerate(documents, 1):
        key = document["key"]
        table.add_row(
            str(line),
            cell(document["name"]),
            NONE if key is None else clean("/".join(map(str, key.values()))),
            cell(document["version"]),
            _value_cell(document),
            _record_remarks(document),
        )
        for member in document.get("members", ()):
            for part in PARTS:
                found = member[part]
                if found is not None:
                    value = NONE if found["value"] is None else _json_cell(found["value"])
                    name = clean(member["member_id"])
                    table.add_row("", part, name, "", value, _record_remarks(found))
    console_of().print(table)


PARTS = ("subscription", "assignment", "user_data")
"""Keys of a member that have its decoded bytes."""


def _value_cell(document: Fields) -> str:
    if document["value"] is None:
        return NONE if document["error"] is not None else "tombstone"
    return _json_cell(document["value"])


def _json_cell(value: object) -> str:
    text = dumps(value)
    shown = text[: most(SHOWN)]
    return text if shown == text else f"{shown}..."


def _record_remarks(document: Fields) -> str:
    """Return error and notes, a line each."""
    remarks = [f"{note['text']} (byte {note['offset']})" for note in document["notes"]]
    if document["error"] is not None:
        remarks.insert(0, f"ERROR {error_text(document)}")
    return "\n".join(map(clean, remarks)) or NONE


def show_assigned(documents: Iterable[Fields]) -> None:
    """Draw a table for each group, as soon as it is answered."""
    console = console_of()
    for name, document in answered(console, documents):
        stats, withheld = document["stats"], document["withheld"]
        table = Table.of("CONSUMER-ID", "#PARTITIONS", "ASSIGNMENT", right=("#PARTITIONS",))
        table.title = name
        for member_id, partitions in document["assignment"].items():
            count = sum(map(len, partitions.values()))
            table.add_row(clean(member_id), str(count), partitions_cell(partitions))
        if withheld:
            count = sum(map(len, withheld.values()))
            waiting = f"{partitions_cell(withheld)}  (until the next round)"
            table.add_row("(withheld)", str(count), waiting, style="yellow")
        console.print(table)
        if figures := _figures(_shown_stats(stats)):
            print_wrapped(console, figures, "dim", indent="  ")
        if stats["follow_up"]:
            console.print("  the leader must start another round itself", style="yellow")
        print_notes(console, document)
        _print_violations(console, document, name)


def _shown_stats(stats: Fields) -> Fields:
    """Return the figures of an assignment as a table shows them.

    Where nobody owns anything, `moved` and `kept` are both 0 and left out.
    """
    hidden = {"follow_up"}
    if not stats.get("moved") and not stats.get("kept"):
        hidden |= {"moved", "kept"}
    return {name: value for name, value in stats.items() if name not in hidden}


def show_checked(documents: Iterable[Fields]) -> None:
    """Draw what each check found."""
    console = console_of()
    for name, document in answered(console, documents):
        if document["violations"]:
            _print_violations(console, document, name)
        else:
            console.print(f"{name}: no violations", style="green")
        print_wrapped(console, _figures(document["gaps"]), "dim", indent="  ")
        print_notes(console, document)


def _print_violations(console: Console, document: Fields, name: str) -> None:
    """Draw a row a broken rule, if there are any."""
    violations = document.get("violations", ())
    if not violations:
        return
    table = Table.of("RULE", "TOPIC", "PARTITION", "CONSUMER-ID", right=("PARTITION",))
    noun = "violation" if len(violations) == 1 else "violations"
    table.title = f"{name}: {len(violations)} {noun}"
    for found in violations:
        table.add_row(
            found["rule"],
            cell(found["topic"]),
            cell(found["partition"]),
            names_cell(found["members"]),
        )
    console.print(table)


def show_explained(documents: Iterable[Fields]) -> None:
    """Print why each partition moved, stayed or waits, with the claims on it."""
    console = console_of()
    for name, document in answered(console, documents):
        print_wrapped(console, clean(str(document["text"])), "bold")
        print_notes(console, document)
        _print_violations(console, document, name)
        spread, least = document["topic_spread"], document["topic_spread_minimum"]
        if spread is not None:
            console.print(f"  topic_spread={spread}  topic_spread_minimum={least}", style="dim")
        claims = document["claims"]
        if not claims:
            console.print("  no claim to it is read", style="dim")
            continue
        table = Table.of("CONSUMER-ID", "GENERATION", "BELIEVED", "WHY", right=("GENERATION",))
        for claim in claims:
            generation = cell(claim["generation"], absent=-1)
            believed = cell(claim["believed"])
            table.add_row(clean(claim["member"]), generation, believed, claim["reason"])
        console.print(table)


def show_conformed(documents: Iterable[Fields]) -> None:
    """Print each vector that failed at once, then draw one row a category."""
    console = console_of()
    table = Table.of("CATEGORY", *OUTCOMES, "WHY SKIPPED", right=OUTCOMES)
    for document in documents:
        fields: Fields = document
        if "id" in fields:
            note = f"  ({fields['note']})" if fields["note"] else ""
            console.print(clean(f"{fields['id']}{note}"), style="red")
            for sentence in fields["wrong"][: most(NUMBERS_SHOWN)]:
                console.print(clean(f"  {sentence}"))
            continue
        counts = [fields[outcome.lower()] for outcome in OUTCOMES]
        style = "red" if fields["failed"] else None
        why = names_cell(fields["reasons"])
        table.add_row(clean(fields["category"]), *map(str, counts), why, style=style)
    console.print(table)


OUTCOMES = ("PASSED", "FAILED", "SKIPPED")


def show_assignors(documents: Iterable[Fields]) -> None:
    """Draw one row an assignor."""
    table = Table.of("NAME", "SHORT", "PROTOCOLS", "USER-DATA")
    for document in documents:
        fields: Fields = document
        table.add_row(
            fields["name"],
            cell(fields["short"]),
            names_cell(fields["protocols"]),
            fields["user_data"],
        )
    console_of().print(table)


def answered(console: Console, documents: Iterable[Fields]) -> Iterator[tuple[str, Fields]]:
    """Yield the answers, each with its group's name or its line; print the errors between them."""
    for line, document in enumerate(documents, 1):
        name = group_name(document, line)
        if document["error"] is None:
            yield name, document
        else:
            print_wrapped(console, f"{name}: {error_text(document)}", "red")


def print_wrapped(console: Console, text: str, style: str = "", *, indent: str = "") -> None:
    """Print a sentence in lines that fit, broken between words, or behind the signs in a name."""
    for line in wrapped(text, max(console.width - len(indent), 1)):
        console.print(f"{indent}{line}", style=style, soft_wrap=True)


def print_notes(console: Console, document: Fields) -> None:
    """Print the notes of an answer, if it has any."""
    for note in document.get("notes", ()):
        where = f" at byte {note['offset']}" if "offset" in note else ""
        whose = "" if note["member"] is None else f"{note['member']}: "
        text = f"note: {whose}{note['text']}{where} ({note['code']})"
        print_wrapped(console, clean(text), "dim", indent="  ")


def group_name(document: Fields, line: int) -> str:
    """Return what a document is about: its group where that has a name, else its line."""
    if document.get("id") is None:
        return error_place(document).removesuffix(": ") or f"line {line}"
    return clean(f"group {document['id']}")


def error_place(document: Fields) -> str:
    """Return the line that an error is in, as a prefix; empty where it is in none."""
    where = document.get("error_at", {})
    if "line" not in where:
        return ""
    file = f" of {where['file']}" if "file" in where else ""
    return clean(f"line {where['line']}{file}: ")


def _figures(figures: Fields) -> str:
    return "  ".join(f"{name}={cell(value)}" for name, value in figures.items())


def _remarks(document: Fields) -> str:
    """Return error and notes of a decoded blob, a line each."""
    remarks = [
        f"{note['code']} (byte {note['offset']})"
        for note in document["notes"]
        if note["code"] not in INPUT_NOTES
    ]
    if document["error"] is not None:
        remarks.insert(0, f"ERROR {error_text(document)}")
    return "\n".join(remarks) or NONE


def error_text(document: Fields) -> str:
    """Return the error of a document: its sentence, and its kind."""
    return clean(f"{document['error']} ({document['error_kind']})")


def _blob_cell(digits: str | None) -> str:
    if not digits:
        return NONE if digits is None else "empty"
    return f"{len(digits) // 2} bytes" if len(digits) > 16 else f"0x{digits}"
