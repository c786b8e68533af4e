#!/usr/bin/env python3
"""sbom.py SWIFT BINARY FILE: writes FILE, a bill of materials: the packages and libraries that BINARY is made of.

BINARY is thumbjob as `swift build` has left it in .build/debug or .build/release: the list of its object files and the
program of the decoder processes are beside it, Package.resolved and the checkouts are above it. The same inputs make
the same file, byte by byte.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import quote

# SPDX 2.3 and not CycloneDX, because its relationships distinguish what is linked statically from what dynamically.
VERSION = "SPDX-2.3"
PROGRAM = "SPDXRef-thumbjob"
# The programs of its helper processes.
HELPERS = ("thumbjob-decoder", "thumbjob-encoder")
UNKNOWN = "NOASSERTION"

LICENCES = {
    "Apache-2.0": re.compile(r"Apache License,?\s+Version 2\.0"),
    "MIT": re.compile(r"Permission is hereby granted, free of charge"),
    "BSD-3-Clause": re.compile(r"Redistribution and use in source and binary forms.*\bNeither the name", re.DOTALL),
    "BSD-2-Clause": re.compile(r"Redistribution and use in source and binary forms(?!.*\bNeither the name)", re.DOTALL),
}
SWIFT_EXCEPTION = re.compile(r"Runtime Library Exception")


def output_of(*command: str | Path, fails: bool = False) -> str:
    """What a command prints. If it may fail, an empty string then."""
    errors = subprocess.DEVNULL if fails else None
    result = subprocess.run(command, check=not fails, stdout=subprocess.PIPE, stderr=errors)
    return result.stdout.decode() if result.returncode == 0 else ""


def licence_of(folder: Path) -> str:
    """The licence of the only licence file of a folder, if it has one that is known."""
    files = sorted(folder.glob("LICENSE*"))
    text = files[0].read_text(errors="replace") if len(files) == 1 else ""
    found = [name for name, pattern in LICENCES.items() if pattern.search(text)]
    if len(found) != 1:
        return UNKNOWN
    return f"{found[0]} WITH Swift-exception" if SWIFT_EXCEPTION.search(text) else found[0]


def package(identifier: str, name: str, version: str | None, **more) -> dict:
    """A package with the fields that SPDX requires."""
    characters = re.sub(r"[^A-Za-z0-9.-]", "-", identifier)
    fields = {
        "SPDXID": f"SPDXRef-{characters}", "name": name, "downloadLocation": UNKNOWN, "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN, "licenseDeclared": UNKNOWN, "copyrightText": UNKNOWN,
    }
    return fields | ({"versionInfo": version} if version else {}) | more


def locator(text: str) -> list[dict]:
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": text}]


def linked_modules(binary: Path) -> set[str]:
    """The modules whose object files are in the program."""
    objects = (binary.parent / f"{binary.name}.product/Objects.LinkFileList").read_text()
    return set(re.findall(r"/([^/\n]+)\.build/", objects))


def swift_packages(build: Path, modules: set[str]) -> list[tuple[dict, str]]:
    """The packages of Package.resolved, each with its relationship to the program."""
    found = []
    for pin in json.loads((build.parent / "Package.resolved").read_text())["pins"]:
        location, state = pin["location"], pin["state"]
        checkout = build / "checkouts" / Path(location).name.removesuffix(".git")
        is_linked = any((checkout / "Sources" / module).is_dir() for module in modules)
        version, revision = state.get("version"), state["revision"]
        place = location.removeprefix("https://").removesuffix(".git")
        fields = package(
            f"swift-package-{pin['identity']}", pin["identity"], version or revision,
            downloadLocation=f"git+{location}@{revision}", licenseDeclared=licence_of(checkout),
            externalRefs=locator(f"pkg:swift/{place}@{version or revision}"))
        found.append((fields, "STATIC_LINK" if is_linked else "OTHER"))
    return found


def swift_runtime(swift: str, libraries: dict[str, Path]) -> tuple[dict, str]:
    """Swift's own libraries. Removes them from the libraries that the program finds when it starts."""
    target = json.loads(output_of(swift, "-print-target-info"))
    toolchain = Path(target["paths"]["runtimeResourcePath"]).parents[1]
    folders = [Path(folder) for folder in target["paths"]["runtimeLibraryPaths"]]
    own = [name for name, path in libraries.items() if path.parent in folders]
    for name in own:
        del libraries[name]
    version = re.search(r"Swift version ([\w.-]+)", target["compilerVersion"])
    fields = package(
        "swift", "swift", version[1] if version else None, licenseDeclared=licence_of(toolchain / "share/swift"),
        comment="Swift's standard library and runtime, Foundation with ICU, and libdispatch, from the toolchain")
    return fields, "DYNAMIC_LINK" if own else "STATIC_LINK"


def loaded_libraries(binary: Path) -> dict[str, Path]:
    """The shared libraries that the loader finds for the program, by name."""
    lines = re.findall(r"^\s*(\S+)(?: => (\S+))? \(0x", output_of("ldd", binary), re.MULTILINE)
    places = {Path(name).name: Path(path or name) for name, path in lines}
    return {name: path for name, path in places.items() if path.is_absolute()}


def opened_libraries() -> dict[str, Path]:
    """The shared libraries that the program opens when it needs them (Sources/CCurl, Sources/CShaping), by name."""
    table = output_of("/sbin/ldconfig", "-p", fails=True) if Path("/sbin/ldconfig").exists() else ""
    names = r"libcurl\.so\.4|libharfbuzz\.so\.0|libharfbuzz-subset\.so\.0|libfontconfig\.so\.1|libfribidi\.so\.0"
    names += r"|libpng16\.so\.16"
    places = re.findall(rf"^\s*({names}) .*=> (\S+)$", table, re.MULTILINE)
    # The first place of a name is the one that the loader uses.
    return {name: Path(path) for name, path in reversed(places)}


@cache
def system_package(name: str, library: Path) -> dict:
    """The Debian package of a library; where there is none, the library itself."""
    # Debian has merged /lib into /usr/lib, but packages may still list the old path.
    real = library.parent.resolve() / library.name
    for path in (library, real, Path("/", *real.parts[2:]) if real.parts[1:2] == ("usr",) else real):
        owner = output_of("dpkg-query", "-S", path, fails=True).split(": ")[0] if has_dpkg() else ""
        if owner:
            break
    else:
        return package(f"library-{name}", name, None)
    form = "${Package}\t${Version}\t${Architecture}"
    debian, version, architecture = output_of("dpkg-query", "-W", f"-f={form}", owner).split("\t")
    purl = f"pkg:deb/{distribution()}/{quote(debian)}@{quote(version)}?arch={architecture}"
    return package(f"deb-{debian}", debian, version, externalRefs=locator(purl))


def has_dpkg() -> bool:
    return Path("/usr/bin/dpkg-query").exists()


def distribution() -> str:
    release = Path("/etc/os-release")
    found = re.search(r'^ID="?([\w.-]+)', release.read_text(), re.MULTILINE) if release.exists() else None
    return found[1] if found else "debian"


def change_time() -> str:
    """The time of the last change, which is that of the Debian package too (scripts/deb.sh)."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output_of("git", "log", "-1", "--format=%ct", fails=True)
    time = int(seconds) if seconds.strip() else int(Path("CHANGELOG.md").stat().st_mtime)
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def document(swift: str, binary: Path) -> dict:
    current = re.search(r'current = "([^"]+)"', Path("Sources/thumbjob/Process/Version.swift").read_text())[1]
    program, *helpers = (
        package(name, name, current, licenseDeclared=licence_of(Path()), primaryPackagePurpose="APPLICATION")
        for name in ("thumbjob", *HELPERS))
    libraries = loaded_libraries(binary)
    parts = [*swift_packages(binary.parent.parent, linked_modules(binary)), swift_runtime(swift, libraries)]
    parts += [(system_package(name, path), "DYNAMIC_LINK") for name, path in (libraries | opened_libraries()).items()]
    # The archives that the Makefile links in, as `ARCHIVES`.
    archives = (binary.parent.parent / "archives").glob("*.a")
    parts += [(system_package(path.name, path.resolve()), "STATIC_LINK") for path in archives]
    of_helpers = [
        (helper["SPDXID"], system_package(name, path))
        for helper in helpers for name, path in loaded_libraries(binary.with_name(helper["name"])).items()]
    packages = {
        fields["SPDXID"]: fields
        for fields in [program, *helpers, *(each for each, _ in parts), *(each for _, each in of_helpers)]}
    relationships = {(PROGRAM, kind, fields["SPDXID"]) for fields, kind in parts}
    relationships |= {(PROGRAM, "CONTAINS", helper["SPDXID"]) for helper in helpers}
    relationships |= {(helper, "DYNAMIC_LINK", fields["SPDXID"]) for helper, fields in of_helpers}
    comments = {"OTHER": {"comment": "resolved for tests, other platforms or unused products; not part of the program"}}
    content = {
        "spdxVersion": VERSION, "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"thumbjob-{current}",
        "creationInfo": {"created": change_time(), "creators": ["Tool: sbom.py"]},
        "packages": [packages[identifier] for identifier in sorted(packages)],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} | comments.get(kind, {})
            for one, kind, other in [("SPDXRef-DOCUMENT", "DESCRIBES", PROGRAM), *sorted(relationships)]
        ],
    }
    # The name of a document must be its own; the same contents have the same name.
    digest = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content, sort_keys=True))
    return content | {"documentNamespace": f"urn:uuid:{digest}"}


def main() -> None:
    swift, binary, file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    file.write_text(json.dumps(document(swift, binary), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
