#!/usr/bin/env python3
"""lint-stat.py: fails where Swift code computes with what a file system tells of a file.

Sizes and times may be any number there, and `+` or `*` ends the process where the result is too large for a number.
What computes with them uses Files: `saturating(plus:)`, `wrappedNanoseconds`, `Duration(to:)`.
"""

import re
import sys
from pathlib import Path

# Fields of the system's clocks, which tell no such times.
CLOCKS = {Path("Sources/Locking/TimedSignal.swift")}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
FIELD = r"(?:st_(?:size|blocks|blksize|nlink)|tv_u?n?sec)\b"
# Numbers that cannot overflow.
SAFE = re.compile(r"(?:\bDouble|\.seconds|\.nanoseconds)\([\w.$?!]*" + FIELD + r"\)")
OPERAND = r"(?:\w+\()?[\w.$?!]*\b" + FIELD + r"\)?"
OPERATOR = r"(?<!&)(?:[-+*]|<<)=?"
METHOD = r"\.(?:quotient|multiplied|advanced)"
COMPUTED = re.compile(rf"{OPERAND}(?:\s*{OPERATOR}\s|{METHOD})|{OPERATOR}\s*{OPERAND}")


def faults(file: Path) -> list[str]:
    """One line for each line of the file that computes with such a field."""
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if COMPUTED.search(SAFE.sub("", COMMENT_OR_STRING.sub("", line))):
            found.append(f"{file}:{number}: a file's size or time may be any number; see {Path(__file__).name}")
    return found


def main() -> int:
    files = [file for file in sorted(Path("Sources").rglob("*.swift")) if file not in CLOCKS]
    found = [fault for file in files for fault in faults(file)]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
