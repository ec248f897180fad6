"""Files of properties and login settings, judged by Java's own classes and Kafka's."""

from __future__ import annotations

import random
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path

import pytest

from assignors.clients.librdkafka.jaas import parse_jaas
from assignors.clients.librdkafka.java_properties import SettingsError, parse_properties
from tests.conftest import DEEP, SEED
from tests.foreign.jars import class_path

pytestmark = pytest.mark.foreign

PROGRAM = Path(__file__).parent / "settings" / "JavaSettings.java"
JAVA = "java"
FILES = 800 * DEEP
LOGINS = 800 * DEEP

PIECES = (
    *("a", "key", "sasl.jaas.config", "=", ":", " ", "\t", "\f", "\n", "\r", "\r\n", "\\", "\\\\"),
    *(
        "#",
        "!",
        "\\u0041",
        "\\u00e9",
        "\\n",
        "\\t",
        "\\:",
        "\\=",
        "\\ ",
        "\\q",
        '"',
        "\xe9",
        "\x85",
    ),
    *("\\\n", "\\\r\n", "\\\n   ", "\x0b", "\\u004", "\\ug", "v", "1"),
)
MODULES = ("org.apache.kafka.common.security.plain.PlainLoginModule", "x.Y$Z_1", "ScramLoginModule")
QUOTED = (
    "a",
    "B",
    "9",
    " ",
    ";",
    "=",
    "\\\\",
    '\\"',
    "\\'",
    "\\n",
    "\\t",
    "\\101",
    "\\7",
    "//",
    "\xe9",
)
ODD = ('"', "'", "=", ";", "\\", "/*", "*/", "//", "\n", " ", "1", "-", "{", "required", ",")


def judged(lines: Sequence[str]) -> list[list[str] | None]:
    """What Java makes of each: its texts, `None` where it throws."""
    done = subprocess.run(
        [JAVA, "-XX:TieredStopAtLevel=1", "-cp", class_path(), str(PROGRAM)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), done.stderr[-2000:]
    return [
        None
        if answer == "ERROR"
        else [b64decode(part[1:]).decode("utf-16-be") for part in answer.split()[1:]]
        for answer in answers
    ]


def asked(kind: str, data: bytes) -> str:
    return f"{kind} {b64encode(data).decode()}"


def flat(entries: dict[str, str]) -> list[str]:
    return [text for entry in sorted(entries.items()) for text in entry]


def without_blank(texts: list[str]) -> list[str]:
    """Without a setting that has no name: of a backslash at the very end Java makes one."""
    return texts[2:] if texts[:1] == [""] else texts


def test_files_of_properties_are_read_as_java_reads_them(judge_tools: None) -> None:
    dice = random.Random(SEED)
    files = [
        "".join(dice.choices(PIECES, k=dice.randint(0, 14))).encode("latin-1") for _ in range(FILES)
    ]
    refused = 0
    for file, expected in zip(files, judged([asked("P", file) for file in files]), strict=True):
        try:
            found = flat({each.key: each.value for each in parse_properties(file)})
        except SettingsError:
            refused += 1
            assert expected is None, file
        else:
            assert without_blank(found) == without_blank(expected or []), file
            assert expected is not None
    assert 0 < refused < FILES // 2


def login(dice: random.Random) -> str:
    options = []
    for number in range(dice.randint(0, 3)):
        text = "".join(dice.choices(QUOTED, k=dice.randint(0, 6)))
        quote = dice.choice("\"'")
        options.append(f"o{number}{dice.choice(['=', ' = '])}{quote}{text}{quote}")
    comment = dice.choice(["", "/* c; */ ", "// c;\n"])
    flag = dice.choice(["required", "REQUIRED", "optional"])
    return f"{comment}{dice.choice(MODULES)} {flag} {' '.join(options)} ;"


def damaged(dice: random.Random, text: str) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(ODD) + text[at + dice.randint(0, 2) :]


def test_logins_are_read_as_kafka_reads_them(judge_tools: None) -> None:
    """A damaged one that we read is read by Kafka as well, to the same; we may refuse more."""
    dice = random.Random(SEED)
    whole = [login(dice) for _ in range(LOGINS)]
    broken = [damaged(dice, text) for text in whole]
    expected = judged([asked("J", text.encode()) for text in (*whole, *broken)])
    refused = 0
    for number, (text, judgement) in enumerate(zip((*whole, *broken), expected, strict=True)):
        try:
            module = parse_jaas(text)
        except ValueError:
            refused += 1
            assert number >= LOGINS, text
        else:
            assert [module.name, *flat(dict(module.options))] == judgement, text
    assert 0 < refused < LOGINS
