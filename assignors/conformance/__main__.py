"""`python -m assignors.conformance` answers requests of the conformance kit with this package."""

import sys

from assignors.conformance.responder import answers

if __name__ == "__main__":
    for line in answers(sys.stdin.buffer):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
