"""Completions, typed in real shells. The scripts are where `make install` puts them."""

import re
import subprocess

import pytest

from job import SLOW, THUMBJOB
from shells import Shell

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files of several kinds."""
    folder = tmp_path_factory.mktemp("completion")
    for name in ["images", "my photos/sub", "imports"]:
        (folder / name).mkdir(parents=True)
    files = ["images/a.jpg", "images/B.JPG", "images/notes.txt", "my photos/x y.jpeg", "job.yml", "jobs.md", "list.txt"]
    for name in files:
        (folder / name).touch()
    return folder


@pytest.fixture(scope="module", params=SHELLS)
def shell(request, folder, tmp_path_factory):
    script = subprocess.run(
        [THUMBJOB, "--generate-completion-script", request.param], check=True, capture_output=True, text=True).stdout
    # A short path, because the path of a unix socket has at most 107 bytes.
    shell = Shell(request.param, script, THUMBJOB, tmp_path_factory.mktemp(request.param), folder)
    yield shell
    shell.close()


def without_slash(words):
    """The words without a slash at their end, which zsh removes from a folder."""
    return [word.rstrip("/") for word in words]


@pytest.mark.parametrize(("line", "words"), [
    ("ima", ["images"]),
    ("images/a", ["images/a.jpg"]),
    ("images/B", ["images/B.JPG"]),
    ("job", ["job.yml"]),
    ("my", ["my photos"]),
    (r"my\ photos/x", ["my photos/x y.jpeg"]),
    ("list", ["list.txt"]),  # a file of another kind, because there is none of the right kind
    ("stat", ["status"]),
    ("run ima", ["run", "images"]),
    ("--out ima", ["--out", "images"]),
    ("--out=ima", ["--out=images"]),
    ("-o my", ["-o", "my photos"]),
    ("compare ima", ["compare", "images"]),
    ("--files0-from lis", ["--files0-from", "list.txt"]),
    ("images --trace jobs", ["images", "--trace", "jobs.md"]),
    ("--progress b", ["--progress", "bar"]),
    ("--progress=b", ["--progress=bar"]),
    ("--on-pressure=req", ["--on-pressure=requeue"]),
    ("--fail-on tr", ["--fail-on", "truncated"]),
    ("--subsample 444", ["--subsample", "444"]),
    ("--keep icc,ex", ["--keep", "icc,exif"]),
    ("--status 127", ["--status", "127.0.0.1:8080"]),
    ("--status=127", ["--status=127.0.0.1:8080"]),
    ("help repo", ["help", "report"]),
    ("report --threads jobs", ["report", "--threads", "jobs.md"]),
    ("--quality ima", ["--quality", "ima"]),  # nothing completes a number
])
def test_a_word_is_completed_by_its_kind(shell, line, words):
    assert without_slash(shell.completed("thumbjob " + line)) == words


def options_of_help(command):
    """The long options in the help of a command, which lists each at the start of a line."""
    text = subprocess.run([THUMBJOB, *command, "--help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"--[a-z0-9-]+", " ".join(re.findall(r"^  (-.*?)(?:  |<|$)", text, re.MULTILINE)))


@pytest.mark.parametrize("command", [[], ["compare"], ["status"], ["cancel"], ["report"]], ids=" ".join)
def test_every_option_of_help_all_is_completed(shell, command):
    options = options_of_help(command or ["run"])
    assert "--help" in options and len(options) == len(set(options))
    text = subprocess.run([THUMBJOB, "--help-all"], check=True, capture_output=True, text=True).stdout
    assert all(re.search(rf"^  .*{option}\b", text, re.MULTILINE) for option in options)
    for option in options:
        rivals = [other for other in options if other != option]
        lengths = [length for length in range(3, len(option)) if not any(o.startswith(option[:length]) for o in rivals)]
        if not lengths:
            # Only the last letter tells it apart.
            assert any(other.startswith(option[:-1]) for other in rivals), option
            continue
        assert shell.completed(" ".join(["thumbjob", *command, option[: lengths[0]]])) == [*command, option]


def test_an_option_is_not_offered_again(shell):
    assert shell.completed("thumbjob --dry-run --dr") == ["--dry-run", "--dr"]


def test_a_running_job_is_completed_by_its_process_id(shell, start, pictures, tmp_path_factory):
    job = start(pictures, "--max", "1", *SLOW)
    shell.use_runtime_folder(job.folder / "thumbjob")
    for command in ["status", "cancel", "pause", "resume"]:
        assert shell.completed(f"thumbjob {command} ") == [command, str(job.process.pid)]


def test_without_the_program_nothing_is_completed_and_nothing_is_printed(shell):
    shell.remove_program()
    try:
        assert shell.completed("thumbjob --me") == ["--me"]
    finally:
        shell.restore_program()
