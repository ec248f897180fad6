"""One socket to a broker, for requests and answers of any kind.

Messages are kio's: typed, generated from Kafka's own definitions, and nothing is retried or
remembered behind the caller's back. What the tests ask the broker, and what raw members say to
it, goes through here.

    with Connection("127.0.0.1:9092", client_id="judge") as connection:
        connection.ask(DescribeGroupsRequest(groups=(GroupId("g"),), ...), DescribeGroupsResponse)
"""

from __future__ import annotations

import io
import itertools
import socket
from types import TracebackType
from typing import Any, Self, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32
from kio.static.protocol import Entity

Answer = TypeVar("Answer", bound=Entity)

ANSWER_BYTES_MAX = 64 * 1024 * 1024


class Connection:
    """A connection that waits for each answer before the next request."""

    def __init__(self, bootstrap: str, *, client_id: str, timeout_s: float = 30.0) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self._client_id = client_id
        self._correlations = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def ask(self, request: Any, answer: type[Answer]) -> Answer:
        """Send a request of kio's and wait for the answer, of the type kio has for it."""
        correlation = i32(next(self._correlations))
        message = io.BytesIO()
        header_type = request.__header_schema__
        header = header_type(
            request_api_key=request.__api_key__,
            request_api_version=request.__version__,
            correlation_id=correlation,
            client_id=self._client_id,
        )
        entity_writer(header_type)(message, header)
        entity_writer(type(request))(message, request)
        body = message.getvalue()
        self._socket.sendall(len(body).to_bytes(4, "big") + body)
        return self._answer(correlation, answer)

    def _answer(self, correlation: i32, answer: type[Answer]) -> Answer:
        size = int.from_bytes(self._exactly(4), "big")
        assert size <= ANSWER_BYTES_MAX
        message = self._exactly(size)
        header_type = answer.__header_schema__  # type: ignore[attr-defined]
        header, at = entity_reader(header_type)(message, 0)
        assert header.correlation_id == correlation
        value, _ = entity_reader(answer)(message, at)
        return value

    def _exactly(self, size: int) -> bytes:
        blocks = []
        while size:
            block = self._socket.recv(min(size, 1 << 20))
            if not block:
                raise ConnectionError("the broker hung up")
            blocks.append(block)
            size -= len(block)
        return b"".join(blocks)
