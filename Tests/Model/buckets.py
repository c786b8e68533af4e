"""Runs of the model whose thumbnails go into a bucket, in the S3 of moto on loopback."""

import os
import sys
from pathlib import Path

from marks import thumbnail
from tree import is_named_picture, walk

from runs import Output, Spec

_BUCKET = "thumbs"
_FLAGS = ("--force", "--hidden", "--follow")


class Bucket:
    def __init__(self, folder: Path):
        """- parameter folder: for what moto writes; it is made."""
        sys.path.append(str(Path(__file__).resolve().parent.parent / "EndToEnd"))
        from servers.s3 import S3

        self._server = S3(folder, {_BUCKET: {}})
        self.variables = {name: value for name, value in self._server.variables.items() if name != "TMPDIR"}
        self._client = self._server.client

    def close(self):
        self._server.close()

    def get(self, key: str) -> bytes | None:
        """The contents of an object; None if there is none."""
        try:
            return self._client.get_object(Bucket=_BUCKET, Key=key)["Body"].read()
        except self._client.exceptions.NoSuchKey:
            return None


def spec_of(spec: Spec) -> Spec:
    """The job whose thumbnails go into a bucket. Each folder and each list of sizes has its own part of it."""
    output = spec.outputs[0]
    part = "-".join([*spec.sources, *output.size_folders()]).replace("/", "-")
    flags = tuple(flag for flag in spec.flags if flag in _FLAGS)
    return Spec(spec.sources, (Output(f"s3://{_BUCKET}/{part}", output.sizes, output.quality),), None,
                (*flags, "--allow-private"), (), spec.max)


def run(world, step) -> list[str]:
    """Carries out a step. Returns what is wrong afterwards."""
    spec = Spec.read(step["spec"])
    before = world.snapshot()
    result = world.program.run(spec, world.root)
    world.last = result
    world.figures["buckets"] += 1
    after = world.snapshot()
    found = result.problems() + [f"others: {path!r} has changed" for path in before | after
                                 if before.get(path) != after.get(path)]
    return found + _missing(world, spec, result, after) if result.is_quiet else found


def _missing(world, spec: Spec, result, after) -> list[str]:
    """The sources whose thumbnails are not in the bucket as they should be."""
    found, learned, output = [], world.pool.of(spec), spec.outputs[0]
    events = result.by_source
    prefix = output.out.split("/", 3)[3]
    for source in [path for folder in spec.sources for path in walk(after, folder, "--hidden" in spec.flags).files]:
        number, event = world.pool.number(after[source].data), events.get(source, {})
        # moto knows no key with a newline, and S3 none that is no UTF-8.
        is_odd = "\n" in source or not source.isprintable()
        if number is None or is_odd or event.get("kind") == "collision":
            continue
        if learned.outcome(number, is_named_picture(os.path.basename(source))) != "made":
            continue
        if event.get("outcome") == "failed":
            found.append(f"refused: the sound {source!r} failed: {event['error']}")
            continue
        for size, inner in enumerate(output.places(spec.relative(source))):
            data = world.bucket.get(f"{prefix}/{inner}")
            ours = data and thumbnail(data)
            if not ours:
                found.append(f"missing: {source!r} has no thumbnail {inner!r} in the bucket")
            elif ours.pixels not in learned.pixels(number, 0, size):
                found.append(f"stale: {inner!r} in the bucket is not the thumbnail of {source!r} as it is now")
    return found
