"""A run, and the world before and after it: what the checks look at."""

from dataclasses import dataclass
from pathlib import Path

from history import Memory
from marks import Sources, thumbnail
from tree import Entry, state, walk

# What a run tells of a source that is not made for a reason in the output folder.
IN_THE_WAY = ("collision", "output")


@dataclass
class Case:
    """A run, and the world before and after it."""

    root: Path  # the scratch folder
    spec: object
    results: list  # of the run; several if shards did it together
    before: dict[str, Entry]
    after: dict[str, Entry]
    memories: dict[str, Memory]  # by output folder
    pool: object  # the reference
    known: Sources  # all sources that there ever were
    mounts: tuple[str, ...] = ()
    is_watch: bool = False
    # The files that were there when the watch began. Others have come since, perhaps after their place was given away.
    first: frozenset[str] | None = None

    def __post_init__(self):
        self.learned = self.pool.of(self.spec)
        self.known.note(self.before)
        self.known.note(self.after)
        self.events = {source: event for result in self.results for source, event in result.by_source.items()}
        self.known.note(self.events)
        hidden = "--hidden" in self.spec.flags
        self.walks = [walk(self.after, folder, hidden) for folder in self.spec.sources]
        self.sources = [path for walked in self.walks for path in walked.files]

    def memory_of(self, path: str) -> Memory | None:
        return self.memories.get(path.split("/")[0])

    def is_ours(self, path: str, there: Entry):
        """The thumbnail at a path, if it is one that thumbjob keeps there."""
        memory = self.memory_of(path)
        if memory is None or path in memory.copies or there.kind != "file":
            return None
        return thumbnail(there.data)

    def thumbnails(self, files: dict[str, Entry]) -> dict:
        """All thumbnails in the output folders."""
        found = {path: self.is_ours(path, there) for path, there in files.items()}
        return {path: ours for path, ours in found.items() if ours}

    def source_of(self, ours) -> str | None:
        """The source that a mark names."""
        return self.known.of(ours.key)

    def state(self, source: str) -> str:
        return state(self.root, source, self.spec.follows)


def wanted_places(case: Case) -> dict[str, set[str]]:
    """The places of the thumbnails of each source of the run."""
    return {source: {f"{output.out}/{inner}" for output in case.spec.outputs
                     for inner in output.places(case.spec.relative(source))} for source in case.sources}
