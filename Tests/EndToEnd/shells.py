"""Shells on a pseudo-terminal, in which completions are typed as a user types them."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pexpect

# What the shell does before its first prompt. A function takes the place of the command: it prints its arguments, so
# that a test sees what a completed line would run. The completion script asks the real program.
PROMPT = "ready> "
RC = {
    "bash": r"""
        PS1='ready> '
        . /usr/share/bash-completion/bash_completion
        thumbjob() { printf 'GOT['; printf '<%s>' "$@"; printf ']\n'; }
        """,
    "zsh": r"""
        PS1='ready> '
        fpath=(${XDG_DATA_DIRS%%:*}/zsh/site-functions $fpath)
        autoload -Uz compinit
        compinit -u -D
        unsetopt PROMPT_SP
        thumbjob() { printf 'GOT['; printf '<%s>' "$@"; printf ']\n' }
        """,
    "fish": r"""
        function fish_prompt; printf 'ready> '; end
        function fish_greeting; end
        function thumbjob --no-scope-shadowing; printf 'GOT['; printf '<%s>' $argv; printf ']\n'; end
        """,
}
# Where `make install` puts the scripts, below PREFIX/share.
PLACES = {
    "bash": "bash-completion/completions/thumbjob",
    "zsh": "zsh/site-functions/_thumbjob",
    "fish": "fish/vendor_completions.d/thumbjob.fish",
}


class Shell:
    def __init__(self, name, script, program, home, folder):
        """Starts a shell in the folder. Its completion script is installed, and the program is on its path."""
        self.name = name
        self.program = program
        home = Path(home)
        self.link = home / "bin" / "thumbjob"
        script_file = home / "share" / PLACES[name]
        script_file.parent.mkdir(parents=True)
        script_file.write_text(script)
        self.link.parent.mkdir()
        self.restore_program()
        rc = home / ("config.fish" if name == "fish" else f".{name}rc")
        rc.write_text(RC[name])
        command = {
            "bash": ["bash", "--noprofile", "--rcfile", str(rc), "-i"],
            "zsh": ["zsh", "-d", "-i"],
            "fish": ["fish", "--private", "-i", "--init-command", f"source {shlex.quote(str(rc))}"],
        }[name]
        environment = {
            "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "ZDOTDIR": str(home), "TERM": "xterm",
            "XDG_DATA_DIRS": f"{home / 'share'}:/usr/share", "LC_ALL": "C.UTF-8",
            "THUMBJOB_RUNTIME_DIR": str(home / "runtime"),
        }
        self.terminal = pexpect.spawn(
            shutil.which(command[0]), command[1:], cwd=str(folder), env=environment, encoding="utf-8", timeout=60,
            dimensions=(50, 200), echo=False)
        self.terminal.expect_exact(PROMPT)

    def completed(self, line):
        """The arguments of the line after its end is completed with the tabulator."""
        self.terminal.send(line + "\t")
        self.terminal.send("\r")
        self.terminal.expect(r"GOT\[(.*)\]\r?\n")
        words = re.findall("<(.*?)>", self.terminal.match[1])
        self.terminal.expect_exact(PROMPT)
        return words

    def use_runtime_folder(self, folder):
        """Lets completions find the jobs with their sockets in this folder."""
        assign = "set -gx THUMBJOB_RUNTIME_DIR " if self.name == "fish" else "export THUMBJOB_RUNTIME_DIR="
        self.terminal.send(f"{assign}{shlex.quote(str(folder))}\r")
        self.terminal.expect_exact(PROMPT)

    def remove_program(self):
        self.link.unlink()

    def restore_program(self):
        self.link.symlink_to(self.program)

    def close(self):
        self.terminal.close(force=True)
