"""The exception that a copy of Java code raises where the Java code throws one."""

from __future__ import annotations


class JavaFailure(ValueError):  # noqa: N818  # named after what happened, in Java
    """Kafka's assignor throws on this group, so its copy does.

    `exception` is the simple name of Java's exception class, `text` its message.

    >>> print(JavaFailure("ArithmeticException", "/ by zero"))
    ArithmeticException: / by zero
    """

    def __init__(self, exception: str, text: str) -> None:
        """Keep the name of Java's exception class and its message apart."""
        super().__init__(exception, text)
        self.exception = exception
        self.text = text

    def __str__(self) -> str:
        """Return it as Java prints it."""
        return f"{self.exception}: {self.text}"
