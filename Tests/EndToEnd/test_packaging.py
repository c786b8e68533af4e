"""What `make install` installs, and the systemd units among it. Nothing is built."""

import re
import subprocess
from pathlib import Path

import pytest

from job import THUMBJOB

DOCUMENTED = re.compile(r"(?:bin|lib|share)/[\w./@-]*thumbjob[\w.@-]*")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder below which `make install PREFIX=/opt` has installed the debug build."""
    folder = tmp_path_factory.mktemp("installed")
    manual = folder / "thumbjob.1"
    manual.touch()
    subprocess.run(
        ["make", "install", "SUDO_USER=yes", f"BINARY={THUMBJOB}", f"MANUAL={manual}", "PREFIX=/opt",
         f"DESTDIR={folder}/root"], check=True, stdout=subprocess.DEVNULL)
    return folder / "root/opt"


def test_make_install_installs_the_files_that_the_documentation_lists(installed):
    files = {str(file.relative_to(installed)) for file in installed.rglob("*") if file.is_file()}
    text = Path("docs/install.md").read_text().split("```\nbin/thumbjob", 1)[1].split("```", 1)[0]
    assert files == set(DOCUMENTED.findall("bin/thumbjob" + text))


def test_the_service_starts_the_installed_program_and_the_timer_starts_the_service(installed):
    units = installed / "lib/systemd/system"
    service = (units / "thumbjob@.service").read_text()
    assert re.findall("^ExecStart=(.*)$", service, re.MULTILINE) == ["/opt/bin/thumbjob /etc/thumbjob/%i.yml"]
    assert "Unit=" not in (units / "thumbjob@.timer").read_text()  # so that it starts the service of the same name
    user = re.findall("^User=(.*)$", service, re.MULTILINE)[0]
    assert f"u {user} " in (installed / "lib/sysusers.d/thumbjob.conf").read_text()


def test_the_copyright_file_of_the_package_names_every_library_of_the_program():
    libraries = set(re.findall(r'url: "https://[^"]*/([\w-]+)"', Path("Package.swift").read_text()))
    text = Path("packaging/debian/copyright").read_text()
    # These are in no program that is installed.
    assert {name for name in libraries if name not in text} == {"swift-docc-plugin", "swift-subprocess"}
