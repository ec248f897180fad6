"""`python -m assignors.conformance` answers requests of the conformance kit with this package."""

import sys

from assignors.conformance.responder import answers

USAGE = """\
usage: python -m assignors.conformance
A program for `kafka-assignors conform --command`: a request a line on standard input, as JSON, and
an answer a line on standard output.
"""

if __name__ == "__main__":
    if {"-h", "--help"} & {*sys.argv}:
        sys.stdout.write(USAGE)
        sys.exit()
    for line in answers(sys.stdin.buffer):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
