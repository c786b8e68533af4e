"""What `make install` installs, the systemd units among it, and the bill of materials. Nothing is built."""

import json
import os
import re
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from job import THUMBJOB

DOCUMENTED = re.compile(r"(?:bin|lib|libexec|share)/[\w./@-]*thumbjob[\w.@-]*")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder below which `make install PREFIX=/opt` has installed the debug build."""
    folder = tmp_path_factory.mktemp("installed")
    manual = folder / "thumbjob.1"
    manual.touch()
    subprocess.run(
        ["make", "install", "SUDO_USER=yes", f"BINARY={THUMBJOB}", f"HELPERS={THUMBJOB}-decoder {THUMBJOB}-encoder",
         f"MANUAL={manual}", "PREFIX=/opt", f"DESTDIR={folder}/root"], check=True, stdout=subprocess.DEVNULL)
    return folder / "root/opt"


def test_make_install_installs_the_files_that_the_documentation_lists(installed):
    files = {str(file.relative_to(installed)) for file in installed.rglob("*") if file.is_file()}
    text = Path("docs/install.md").read_text().split("```\nbin/thumbjob", 1)[1].split("```", 1)[0]
    assert files == set(DOCUMENTED.findall("bin/thumbjob" + text))


def test_libpng_calls_the_functions_of_the_decoder_program_and_not_those_of_zlib():
    decoder = f"{THUMBJOB}-decoder"
    loader = {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    text = subprocess.run(
        [decoder], check=False, env=loader, stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr
    found = set(re.findall(r"file \S*libpng\S* .*to \S*thumbjob-decoder .*symbol `(\w+)'", text))
    assert {"inflate", "inflateInit2_", "inflateEnd", "inflateReset2", "crc32"} <= found


def test_the_service_starts_the_installed_program_and_the_timer_starts_the_service(installed):
    units = installed / "lib/systemd/system"
    service = (units / "thumbjob@.service").read_text()
    command = "/opt/bin/thumbjob --known-failures ok --metrics-file /var/lib/thumbjob/%i/metrics.prom"
    assert re.findall("^ExecStart=(.*)$", service, re.MULTILINE) == [f"{command} /etc/thumbjob/%i.yml"]
    assert "Unit=" not in (units / "thumbjob@.timer").read_text()  # so that it starts the service of the same name
    watch = (units / "thumbjob-watch@.service").read_text()
    assert re.findall("^ExecStart=(.*)$", watch, re.MULTILINE) == ["/opt/bin/thumbjob watch /etc/thumbjob/%i.yml"]
    serve = (units / "thumbjob-serve.service").read_text()
    assert re.findall("^ExecStart=(.*)$", serve, re.MULTILINE) == ["/opt/bin/thumbjob serve $THUMBJOB_OPTIONS"]
    assert (units / "thumbjob-serve.socket").exists()
    for user in re.findall("^User=(.*)$", service + watch, re.MULTILINE):
        assert f"u {user} " in (installed / "lib/sysusers.d/thumbjob.conf").read_text()


def test_the_package_has_every_document_that_a_unit_names():
    units = "".join(file.read_text() for file in Path("packaging/systemd").iterdir())
    loop = re.search(r"for document in ([\w ]+); do put 644 \"docs/", Path("scripts/deb.sh").read_text())
    assert set(re.findall(r"[\w/.-]*/([\w-]+)\.md", units)) == set(loop[1].split())
    assert "/usr/share/doc" not in units  # which `make install` does not fill


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", ["thumbjob@", "thumbjob-watch@", "thumbjob-serve"])
def test_systemd_finds_little_exposure_in_the_services(installed, tmp_path, unit):
    file = tmp_path / f"{unit}{'gallery' if unit.endswith('@') else ''}.service"
    file.write_text((installed / f"lib/systemd/system/{unit}.service").read_text())
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=17", file], check=False,
        capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_the_copyright_file_of_the_package_names_every_library_of_the_program():
    libraries = set(re.findall(r'url: "https://[^"]*/([\w-]+)"', Path("Package.swift").read_text()))
    text = Path("packaging/debian/copyright").read_text()
    # No installed program contains these: two are for tests, and one is for users of a trait of BoundedQueue.
    unlinked = {"swift-subprocess", "swift-system", "swift-distributed-tracing"}
    assert {name for name in libraries if name not in text} == unlinked


def bill_of_materials(folder, time):
    """The text that scripts/sbom.py writes for the debug build."""
    file = folder / "sbom.json"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": time}
    subprocess.run(["scripts/sbom.py", os.environ.get("SWIFT", "swift"), THUMBJOB, file], check=True, env=environment)
    return file.read_text()


@pytest.fixture(scope="module")
def bill(tmp_path_factory):
    return json.loads(bill_of_materials(tmp_path_factory.mktemp("bill"), "1790000000"))


def test_the_bill_of_materials_has_the_fields_that_spdx_requires(bill):
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
    assert bill["SPDXID"] == "SPDXRef-DOCUMENT" and bill["name"]
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["documentNamespace"])
    assert datetime.fromisoformat(bill["creationInfo"]["created"]).timestamp() == 1790000000
    assert all(re.match("(Tool|Person|Organization): ", creator) for creator in bill["creationInfo"]["creators"])
    known = [package["SPDXID"] for package in bill["packages"]] + [bill["SPDXID"]]
    assert len(known) == len(set(known)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in known)
    for package in bill["packages"]:
        assert package["name"] and package["downloadLocation"] and package["filesAnalyzed"] is False
        assert package["licenseDeclared"] in {
            "Apache-2.0", "Apache-2.0 WITH Swift-exception", "BSD-2-Clause", "BSD-3-Clause", "MIT", "NOASSERTION"}
    kinds = {"DESCRIBES", "CONTAINS", "STATIC_LINK", "DYNAMIC_LINK", "OTHER"}
    for relationship in bill["relationships"]:
        assert relationship["relationshipType"] in kinds
        assert {relationship["spdxElementId"], relationship["relatedSpdxElement"]} <= set(known)
    # Every package is described, linked, or listed as not linked.
    assert {relationship["relatedSpdxElement"] for relationship in bill["relationships"]} == set(known[:-1])


def test_the_bill_of_materials_has_every_package_that_is_resolved_or_linked(bill):
    resolved = json.loads((THUMBJOB.parents[2] / "Package.resolved").read_text())["pins"]
    packages = {package["name"]: package for package in bill["packages"]}
    for pin in resolved:
        assert pin["state"]["revision"] in packages[pin["identity"]]["downloadLocation"]
        assert packages[pin["identity"]]["licenseDeclared"] != "NOASSERTION", pin["identity"]
    linked = {kind: set() for kind in ("CONTAINS", "STATIC_LINK", "DYNAMIC_LINK", "OTHER")}
    names = {package["SPDXID"]: package["name"] for package in bill["packages"]}
    for relationship in bill["relationships"][1:]:
        linked[relationship["relationshipType"]].add(names[relationship["relatedSpdxElement"]])
    assert {"hummingbird", "swift-nio", "yams"} <= linked["STATIC_LINK"] and "swift-subprocess" in linked["OTHER"]
    assert linked["CONTAINS"] == {"thumbjob-decoder", "thumbjob-encoder"}
    libraries = "jpeg lcms2 exif png gif webp avif tiff de265 dav1d jxl openjp2 seccomp nettle curl"
    for library in libraries.split():
        assert any(library in name for name in linked["DYNAMIC_LINK"]), library
    assert "swift" in linked["STATIC_LINK"] | linked["DYNAMIC_LINK"]


def test_the_bill_of_materials_is_the_same_each_time_and_names_no_path_of_this_machine(tmp_path):
    text = bill_of_materials(tmp_path, "1790000000")
    assert bill_of_materials(tmp_path, "1790000000") == text
    assert bill_of_materials(tmp_path, "1790000001") != text
    assert str(THUMBJOB.parents[2]) not in text and "/lib/" not in text
