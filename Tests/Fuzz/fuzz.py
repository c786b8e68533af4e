"""fuzz.py: runs each fuzz target for some seconds and prints a table of executions and findings.

Inputs that reach new code are kept in FOLDER/inputs, so that the next run begins with them. A finding is a crash, a
memory error, a broken check, a hang, or too much memory; its input is kept in FOLDER/findings. Exits with status 1 if
there is one.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# The most bytes of an input. Longer ones of these targets find nothing that short ones do not.
LONGEST = {"words": 300, "list": 400, "glob": 600, "mark": 200}
OTHERWISE_LONGEST = 8192
# The most seconds for one input, and the most MiB of a process. A larger allocation fails, as it does under the limit
# of a decoder process. A debugger of crashes would never end under a sanitizer, so Swift's is switched off.
MOST_SECONDS, MOST_MEBIBYTES, LARGEST_ALLOCATION = 25, 2048, 1024
ENVIRONMENT = {
    "SWIFT_BACKTRACE": "enable=no",
    "ASAN_OPTIONS":
        f"abort_on_error=0:allocator_may_return_null=1:max_allocation_size_mb={LARGEST_ALLOCATION}",
}


@dataclass(frozen=True)
class Result:
    target: str
    executions: int
    seconds: int
    inputs: int
    findings: list[str]  # the files of their inputs
    log: Path

    @property
    def row(self):
        return (
            f"| {self.target} | {self.executions:,} | {self.seconds} | {self.inputs} | "
            f"{len(self.findings) or 'none'} |")


def run(program, folder, seeds, seconds):
    """Runs one target. It ends early at a finding."""
    target = program.name
    inputs, findings = folder / "inputs" / target, folder / "findings" / target
    for needed in (inputs, findings):
        needed.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    log = folder / f"{target}.log"
    command = [
        program, f"-max_total_time={seconds}", f"-max_len={LONGEST.get(target, OTHERWISE_LONGEST)}",
        f"-timeout={MOST_SECONDS}", f"-report_slow_units={MOST_SECONDS}", f"-rss_limit_mb={MOST_MEBIBYTES}",
        f"-artifact_prefix={findings}/", "-print_final_stats=1", inputs,
        *([seeds / target] if (seeds / target).exists() else []),
    ]
    # A target that ends at a finding does not remove its files.
    with open(log, "wb") as output, tempfile.TemporaryDirectory(prefix="thumbjob-fuzz-") as temporary:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, **ENVIRONMENT, "TMPDIR": temporary}, check=False).returncode
    text = log.read_text(errors="replace")
    kept = sorted(str(file) for file in set(findings.iterdir()) - before)
    # A fuzzer that ends in another way, such as without its seeds, has found nothing and tried nothing.
    if status and not kept:
        kept = [f"{log} (exit status {status})"]
    executions = re.search(r"stat::number_of_executed_units: +(\d+)", text) or re.search(r"Done (\d+) runs", text)
    took = re.search(r"Done \d+ runs in (\d+) second", text)
    return Result(
        target, int(executions[1]) if executions else 0, int(took[1]) if took else 0, len(list(inputs.iterdir())), kept,
        log)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, nargs="+", help="the targets")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seeds", type=Path, required=True, help="the folder of the first inputs")
    parser.add_argument("--folder", type=Path, required=True, help="the folder for inputs and findings")
    options = parser.parse_args()
    folder = options.folder.resolve()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        pending = [
            pool.submit(run, program.absolute(), folder, options.seeds, options.seconds)
            for program in options.programs]
        print("| target | executions | seconds | inputs kept | findings |\n| --- | --- | --- | --- | --- |")
        results = []
        for future in pending:
            results.append(future.result())
            print(results[-1].row, flush=True)
    for result in results:
        for finding in result.findings:
            print(f"{result.target}: {finding}; the log is {result.log}")
    return 1 if any(result.findings for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
