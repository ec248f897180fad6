"""Many byte strings read in step: the first field of all, then the second of all.

A walk has a place in every string. What does not fit, a length beyond the end or a value that
needs a note, takes its string out: it is no longer plain, and is read by somebody with more
patience. Places of such strings stay where they were, so that no walk leaves its bytes by much.
"""

from __future__ import annotations

import numpy as np

from assignors.replay.decode.buffers import Bytes, Index, Mask

TOGETHER_MIN = 16
"""Fewer strings than this are not worth a step of all."""


class LockstepReader:
    """Up to where each blob has been read, and which are plain so far."""

    __slots__ = ("at", "blobs", "is_plain")

    def __init__(self, blobs: Bytes, at: Index | None = None) -> None:
        """Stand at the start of each, or at the places given."""
        self.blobs = blobs
        self.at: Index = blobs.start.copy() if at is None else at
        self.is_plain: Mask = blobs.is_valid.copy()

    def need(self, is_good: Mask) -> None:
        """Give up the blobs for which this does not hold."""
        self.is_plain &= is_good

    def refuse(self, blobs: Index) -> None:
        """Give up these blobs."""
        self.is_plain[blobs] = False

    def int16(self, is_there: Mask | bool = True) -> Index:  # noqa: FBT001, FBT002 - an array, as a rule
        """Read an int16 of every blob that has one; -1 of the others."""
        read = np.where(is_there, self.blobs.int16(self.at), -1)
        self.at += np.where(is_there, 2, 0)
        return read

    def int32(self, is_there: Mask | bool = True) -> Index:  # noqa: FBT001, FBT002 - as above
        """Read an int32 of every blob that has one; -1 of the others."""
        read = np.where(is_there, self.blobs.int32(self.at).astype(np.int64), -1)
        self.at += np.where(is_there, 4, 0)
        return read

    def int64(self) -> Index:
        """Read an int64 of every blob."""
        self.at += 8
        return self.blobs.int64(self.at - 8)

    def text(self) -> tuple[Index, Index]:
        """Step over a string with an int16 length; return where it begins and its length."""
        length = self.int16()
        return self.skip(length), length

    def nullable_text(self, is_there: Mask | bool = True) -> tuple[Index, Index]:  # noqa: FBT001, FBT002 - as below
        """Step over a string as above, or a null, whose length is -1."""
        length = self.int16(is_there)
        self.need(length >= -1)
        return self.skip(np.maximum(length, 0)), length

    def data(self) -> tuple[Index, Index]:
        """Step over bytes with an int32 length; return where they begin and their length."""
        length = self.int32()
        return self.skip(length), length

    def skip(self, length: Index) -> Index:
        """Step over bytes and return where they begin; give up where there are not so many."""
        began = self.at.copy()
        self.need((length >= 0) & (length <= self.blobs.end - self.at))
        self.at += np.where(self.is_plain, length, 0)
        return began
