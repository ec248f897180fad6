"""Answer requests of the conformance kit with this package.

Assignments come from the copies of Kafka's assignors, failures included; bytes are decoded as
strictly as Kafka does, unless the request has `"mode": "tolerant"`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from assignors.conformance.groups import by_topic, group_of, has_bytes, pairs_of
from assignors.conformance.records import read_record, write_record
from assignors.conformance.values import (
    assignment_value,
    member_value,
    pairs_document,
    subscription_value,
)
from assignors.documents.values import (
    Document,
    as_string,
    as_strings,
    bytes_from_hex,
    optional_bytes,
    optional_int32,
    optional_string,
    required,
)
from assignors.java.user_data import cooperative_user_data, sticky_user_data
from assignors.jvm.failure import JavaFailure
from assignors.model import NO_GENERATION
from assignors.registry import assignor_named
from wire import (
    Decoded,
    Mode,
    StickyUserData,
    Subscription,
    WireError,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

ASSIGNOR_NAMES: dict[str, str] = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "java/sticky",
    "coop": "java/cooperative-sticky",
    "srv-uniform": "server/uniform",
    "srv-range": "server/range",
    "srv-simple": "server/simple",
}
"""Algorithm of a vector -> our assignor."""

VERSIONS = range(4)


class UnsupportedError(Exception):
    """This package has no answer to such a request."""


def answers(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the answer to each line, with a line feed; empty lines are skipped.

    Raises `ValueError` for a line that is no JSON, and what `answer` raises.
    """
    for line in lines:
        if line.strip():
            yield json.dumps(answer(json.loads(line))).encode() + b"\n"


def answer(request: Document) -> Document:
    """Return the answer to one request: its `id`, and one of `out`, `error` and `skip`.

    Raises `KeyError` for a request without `id`, `DocumentError` for one without `algo`.

    >>> answer({"id": "x", "op": "decode", "algo": "codec-sub", "hex": "00"})
    {'id': 'x', 'error': {'text': 'version: 2 bytes in 1 (byte 0)'}}
    >>> answer({"id": "y", "op": "decode", "algo": "codec-new"})
    {'id': 'y', 'skip': 'codec-new is not supported'}
    """
    name = request["id"]
    algorithm = as_string(required(request, "algo", ()), ("algo",))
    try:
        return {"id": name, "out": _out(algorithm, request)}
    except JavaFailure as failure:
        return {"id": name, "error": {"exception": failure.exception, "text": str(failure)}}
    except UnsupportedError as reason:
        return {"id": name, "skip": str(reason)}
    except (ValueError, WireError) as error:
        return {"id": name, "error": {"text": str(error)}}


def _out(algorithm: str, request: Document) -> Document:
    if algorithm in ASSIGNOR_NAMES:
        return _assign(algorithm, request)
    work = CODECS.get(algorithm)
    if work is None:
        raise UnsupportedError(f"{algorithm} is not supported")
    return work(request)


def _assign(algorithm: str, request: Document) -> Document:
    """Answer as the reference; a group given as bytes as our leader does, which must not fail."""
    group = group_of(request)
    name = ASSIGNOR_NAMES[algorithm]
    if has_bytes(request):
        name = name.partition("/")[2]
    rebalance = assignor_named(name).assign(group)
    lists = rebalance.lists
    if lists is None:
        return {
            "assignment": {
                member_id: pairs_document(partitions)
                for member_id, partitions in rebalance.assignment.items()
            }
        }
    out: Document = {
        "assignment": {member: [list(pair) for pair in lists[member]] for member in lists},
        "order": list(rebalance.order or ()),
    }
    if rebalance.state is not None:
        out["maxGen"] = rebalance.state.max_generation
    return out


def _mode(request: Document) -> Mode:
    return Mode(as_string(request.get("mode", Mode.STRICT.value), ("mode",)))


def _blob(request: Document) -> bytes:
    return bytes_from_hex(as_string(request["hex"], ("hex",)).encode())


def _read_subscription(request: Document) -> Document:
    return subscription_value(decode_subscription(_blob(request), mode=_mode(request)).require())


def _read_assignment(request: Document) -> Document:
    return assignment_value(decode_assignment(_blob(request), mode=_mode(request)).require())


def _read_sticky(request: Document) -> Document:
    blob = optional_bytes(request, "ud")
    read: Decoded[StickyUserData] = decode_sticky_user_data(blob, mode=_mode(request))
    return member_value(read.require())


def _read_cooperative(request: Document) -> Document:
    """Answer as a leader: the generation of the Subscription, without it that of UserData."""
    owned = pairs_document(by_topic(pairs_of(request["owned"], ("owned",))))
    generation = _generation(request)
    if generation < 0:
        blob = optional_bytes(request, "ud")
        decoded = decode_cooperative_user_data(blob, mode=_mode(request)).require()
        return {"owned": owned, "gen": decoded.generation}
    return {"owned": owned, "gen": generation}


def _write_subscription(request: Document) -> Document:
    rack_id = optional_string(request, "rack")
    topics = as_strings(request["topics"], ("topics",))
    owned = by_topic(pairs_of(request["owned"], ("owned",)))
    user_data, generation = optional_bytes(request, "ud"), _generation(request)
    return {
        f"v{version}": encode_subscription(
            Subscription(
                version=version,
                topics=topics,
                owned=owned,
                generation=generation,
                rack_id=rack_id,
                user_data=user_data,
            )
        ).hex()
        for version in VERSIONS
    }


def _write_assignment(request: Document) -> Document:
    owned = by_topic(pairs_of(request["owned"], ("owned",)))
    user_data = optional_bytes(request, "ud")
    return {
        f"v{version}": encode_assignment(
            owned, user_data=user_data, version=version, keep_order=True
        ).hex()
        for version in VERSIONS
    }


def _write_sticky(request: Document) -> Document:
    pairs = pairs_of(request["owned"], ("owned",))
    return {"ud": sticky_user_data(pairs, _generation(request)).hex()}


def _write_cooperative(request: Document) -> Document:
    return {"ud": cooperative_user_data(optional_int32(request, "gen")).hex()}


def _generation(request: Document) -> int:
    generation = optional_int32(request, "gen")
    return NO_GENERATION if generation is None else generation


CODECS: dict[str, Callable[[Document], Document]] = {
    "codec-sub": _read_subscription,
    "codec-asg": _read_assignment,
    "codec-mdsticky": _read_sticky,
    "codec-mdcoop": _read_cooperative,
    "codec-mksub": _write_subscription,
    "codec-mkasg": _write_assignment,
    "codec-stickyud": _write_sticky,
    "codec-coopud": _write_cooperative,
    "rec-dec": read_record,
    "rec-enc": write_record,
}
