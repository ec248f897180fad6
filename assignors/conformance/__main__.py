"""`python -m assignors.conformance` answers the conformance kit's requests with this package."""

import sys

from assignors.conformance.program import answers

if __name__ == "__main__":
    for line in answers(sys.stdin.buffer):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
