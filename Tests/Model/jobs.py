"""Chooses jobs at random: what they read, where they write, and how."""

import os
import random
from pathlib import Path

from buckets import spec_of
from outs import OUTS

from runs import Output, Spec

_SIZES = (("16",), ("8",), ("16", "small=8"), ("small=12^", "256=16"), ("8x8!",))
_PATTERNS = ("%d/%s-%e", "small/%d/%s")
# Mirrors the same folder in every run.
PLAIN = "t1"
_SIGNALS = ("KILL", "KILL", "KILL", "TERM", "USR2", "HUP", "INT")


class JobChooser:
    def __init__(self, root: Path, generator: random.Random, focus=1, has_buckets=False):
        """- parameter focus: how many times as often a job removes what --prune alone does not."""
        self.root, self.random = root, generator
        self._prunes = (9, 6, 3 * focus, 2)
        self._bucket_weight = 20 if has_buckets else 0
        # What a user usually does with an output folder, so that most runs find thumbnails of the same job there.
        self._usual = {out: self._output(out) for out in OUTS}

    def _chance(self, part: float) -> bool:
        return self.random.random() < part

    def _output(self, out: str) -> Output:
        name = self.random.choice(_PATTERNS) if self._chance(0.15) and out != PLAIN else None
        sizes = self.random.choices(_SIZES, (5, 2, 3, 3, 1))[0]
        return Output(out, sizes, self.random.choice((80, 80, 50)), name)

    def _any_output(self, out: str) -> Output:
        if self._chance(0.06):
            self._usual[out] = self._output(out)
        return self._usual[out] if self._chance(0.8) else self._output(out)

    def _sources(self) -> tuple[str, ...]:
        inner = [f"photos/{name}" for name in sorted(os.listdir(self.root / "photos"))
                 if (self.root / "photos" / name).is_dir() and not (self.root / "photos" / name).is_symlink()
                 and not name.startswith(".") and name.isascii()] if (self.root / "photos").is_dir() else []
        choices = [(("photos",), 12), (("photos", "more"), 4), (("more",), 3)]
        choices += [((self.random.choice(inner),), 2)] if inner else []
        return self.random.choices([one for one, _ in choices], [weight for _, weight in choices])[0]

    def spec(self, may_join=True) -> Spec:
        outs = [self.random.choices(OUTS, (6, 3, 2))[0]]
        if self._chance(0.15):
            outs = self.random.sample(OUTS, 2)
        flags = [flag for flag, part in (
            (("--verify", "content"), 0.1), (("--retry-failed",), 0.1), (("--force",), 0.06), (("--follow",), 0.07),
            (("--hidden",), 0.06)) if self._chance(part)]
        joins = tuple(join for join in ("manifest", "html", "sheet") if may_join and self._chance(0.07))
        prune = self.random.choices((None, "yes", "all", "force"), self._prunes)[0]
        sources = self._sources()
        return Spec(
            ("photos",) if PLAIN in outs else sources, tuple(self._any_output(out) for out in outs), prune,
            tuple(text for flag in flags for text in flag), joins, self.random.choice((1, 2, 4)))

    def _watched(self) -> Spec:
        spec = self.spec(may_join=False)
        flags = tuple(flag for flag in spec.flags if flag not in ("--force", "--follow"))
        out = spec.outputs[0]
        return Spec(("photos",), (Output(out.out, out.sizes, out.quality),), spec.prune, flags, (), 2)

    def choose(self, steps) -> dict:
        """- parameter steps: chooses the steps of a storm: is given how many."""
        kinds = {"run": 60, "kill": 14, "pair": 6, "shards": 5, "busy": 5, "watch": 3, "bucket": self._bucket_weight}
        kind = self.random.choices(tuple(kinds), tuple(kinds.values()))[0]
        match kind:
            case "run":
                return {"do": "run", "spec": self.spec().record()}
            case "kill":
                return {"do": "kill", "spec": self.spec().record(), "signal": self.random.choice(_SIGNALS),
                        "delay": round(self.random.random() ** 2 * 0.25, 4)}
            case "pair":
                return {"do": "pair", "specs": [spec.record() for spec in self._pair()]}
            case "shards":
                spec = self.spec(may_join=False)
                spec = Spec(spec.sources, spec.outputs, None, spec.flags, (), spec.max)
                return {"do": "shards", "spec": spec.record(), "count": self.random.choice((2, 3)),
                        "is_together": self._chance(0.5)}
            case "bucket":
                return {"do": "bucket", "spec": spec_of(self.spec(may_join=False)).record()}
            case "busy":
                return {"do": "busy", "spec": self.spec().record(), "steps": steps(self.random.randint(1, 4))}
            case _:
                return {"do": "watch", "spec": self._watched().record(),
                        "storms": [steps(self.random.randint(1, 15)) for _ in range(self.random.randint(1, 3))],
                        "end": self.random.choice(("HUP", "HUP", "TERM", "KILL"))}

    def _pair(self) -> list[Spec]:
        one = self.spec(may_join=False)
        found = [one]
        for _ in range(self.random.choice((1, 1, 2))):
            # Often the same job, or the same output folder with other settings.
            other = self.spec(may_join=False)
            outputs = tuple(self._output(output.out) for output in one.outputs) if self._chance(0.5) else one.outputs
            sources = one.sources if PLAIN in one.outs else other.sources
            found.append(Spec(sources, outputs, other.prune, other.flags, (), other.max))
        return found
