#!/usr/bin/env python3
"""icu-data.py SWIFT FLAGS: makes an object file with the part of ICU's data that thumbjob may need.

Foundation contains ICU with the data of all languages, 34 MB, which was half of the program. thumbjob speaks one
language. FLAGS becomes a file of the linker options that replace the toolchain's data by this part: references to its
symbol icudtNN_dat go to __wrap_icudtNN_dat of the object, so that the linker never reads the whole. The file is empty,
and the program complete, if the toolchain has no such data.

The data is a package of named files (type CmnD of ICU's common data): a header, the number of files, the places of
their names and contents counted from the end of the header, the names, the contents.
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# What ICU reads whatever the language is, and English: properties and normal forms of characters, the order of strings,
# breaks between words and lines, numbers, units, currencies, time zones. The rest are other languages, old character
# sets and transliterations.
KEPT = re.compile(r"""
    icudt\d+l/(
        (brkitr|coll|curr|lang|region|unit|zone)/(root|en|pool|res_index|supplementalData)\.res
        | coll/ucadata\.icu
        | brkitr/(char|line|sent|title|word)\.brk
        | (root|en|en_001|en_US|en_US_POSIX|pool|res_index)\.res
        | (dayPeriods|icustd|icuver|keyTypeData|likelySubtags|metaZones|metadata|numberingSystems|pluralRanges|plurals
              |supplementalData|timezoneTypes|windowsZones|zoneinfo64)\.res
        | (nfkc|nfkc_cf|uts46)\.nrm
        | (uemoji|ulayout)\.icu
    )
""", re.VERBOSE)
ALIGNMENT = 16


def files_of(package: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The header of a package, and its files in order."""
    size, magic1, magic2 = struct.unpack_from("<HBB", package)
    if (magic1, magic2) != (0xDA, 0x27) or package[12:16] != b"CmnD":
        raise ValueError("not a package of ICU's data")
    header, rest = package[:size], package[size:]
    (count,) = struct.unpack_from("<I", rest)
    places = [struct.unpack_from("<II", rest, 4 + 8 * index) for index in range(count)]
    ends = [content for _, content in places[1:]] + [len(rest)]
    names = [rest[name : rest.index(b"\0", name)].decode() for name, _ in places]
    return header, [(name, rest[start:end]) for name, (_, start), end in zip(names, places, ends, strict=True)]


def package_of(header: bytes, files: list[tuple[str, bytes]]) -> bytes:
    """A package of these files. ICU finds a file by binary search, so they keep their order."""
    names, starts = b"", []
    for name, _ in files:
        starts.append(4 + 8 * len(files) + len(names))
        names += name.encode() + b"\0"
    table, contents = struct.pack("<I", len(files)), b""
    offset = 4 + 8 * len(files) + len(names)
    names += bytes(-(len(header) + offset) % ALIGNMENT)
    offset = 4 + 8 * len(files) + len(names)
    for (_, content), start in zip(files, starts, strict=True):
        table += struct.pack("<II", start, offset + len(contents))
        contents += content + bytes(-len(content) % ALIGNMENT)
    return header + table + names + contents


def main() -> None:
    swift, flags = sys.argv[1], Path(sys.argv[2])
    target = json.loads(subprocess.run([swift, "-print-target-info"], check=True, stdout=subprocess.PIPE).stdout)
    toolchain = Path(target["paths"]["runtimeResourcePath"]).parents[1]
    archive = toolchain / "lib/swift_static/linux/lib_FoundationICU.a"
    if not archive.exists():
        print(f"icu-data.py: the program gets the data of all languages: there is no {archive}", file=sys.stderr)
        flags.write_text("")
        return

    def run(tool: str, *arguments: str | Path) -> bytes:
        return subprocess.run([toolchain / "bin" / tool, *arguments], check=True, stdout=subprocess.PIPE).stdout

    part = flags.with_suffix(".o").resolve()
    with tempfile.TemporaryDirectory() as folder:
        whole, data, source = Path(folder, "whole.o"), Path(folder, "data"), Path(folder, "data.s")
        whole.write_bytes(run("llvm-ar", "p", archive, "icu_packaged_data.cpp.o"))
        symbol = re.search(r"\bicudt\d+_dat\b", run("llvm-nm", whole).decode())[0]
        run("llvm-objcopy", "-O", "binary", "-j", ".rodata", whole, data)
        header, files = files_of(data.read_bytes())
        data.write_bytes(package_of(header, [file for file in files if KEPT.fullmatch(file[0])]))
        source.write_text(
            f'.section .rodata.icu,"a"\n.balign {ALIGNMENT}\n'
            f'.global __wrap_{symbol}\n__wrap_{symbol}:\n.incbin "{data}"\n'
            '.section .note.GNU-stack,"",@progbits\n'
        )
        run("clang", "-c", source, "-o", part)
    flags.write_text(f"-Xlinker --wrap={symbol} -Xlinker {part}\n")


if __name__ == "__main__":
    main()
