"""Names of a client stand for ours for as long as somebody uses them, whenever it ends."""

from __future__ import annotations

import gc
from threading import Thread
from types import SimpleNamespace

from assignors.clients.common.replaced_names import ReplacedNames


class User:
    """Something that uses the names."""


def test_names_are_the_originals_before_the_first_user_and_after_the_last() -> None:
    owner = SimpleNamespace(name="theirs")
    names = ReplacedNames(owner, {"name": "ours"})
    assert owner.name == "theirs"
    users = [User(), User()]
    for user in users:
        names.use(user)
    del user
    while users:
        assert owner.name == "ours"
        users.pop()
        gc.collect()
    assert owner.name == "theirs"


def test_a_user_may_end_while_another_one_begins() -> None:
    """A garbage collection runs anywhere, so also where the lock is held: it waited for itself."""
    owner = SimpleNamespace(name="theirs")
    names = ReplacedNames(owner, {"name": "ours"})

    def end_inside() -> None:
        user = User()
        names.use(user)
        with names._lock:
            del user
            gc.collect()

    thread = Thread(target=end_inside, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert owner.name == "theirs"
