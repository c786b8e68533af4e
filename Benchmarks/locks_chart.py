"""locks_chart.py FIGURES CHART: what bench-locks has written as JSON, as an SVG of time to acquire and throughput."""

import json
import sys
from pathlib import Path
from statistics import median_low

from charts import COLORS, pyplot, save

PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max"}


def main(figures: Path, chart: Path) -> None:
    entries = json.loads(figures.read_text())["figures"]
    patterns = list(dict.fromkeys(entry["pattern"] for entry in entries))
    figure, axes = pyplot.subplots(
        3, len(patterns), figsize=(3 * len(patterns), 8), sharey="row", layout="constrained")
    for column, pattern in enumerate(patterns):
        locks = [entry for entry in entries if entry["pattern"] == pattern]
        axes[0][column].set_title(pattern)
        for row, who in enumerate(("readers", "writers")):
            draw_times(axes[row][column], locks, who)
        draw_throughput(axes[2][column], locks)
    axes[0][0].set_ylabel("readers wait, ns")
    axes[1][0].set_ylabel("writers wait, ns")
    axes[2][0].set_ylabel("million locks a second")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    save(figure, chart)


def draw_times(axis, locks: list[dict], who: str) -> None:
    for entry in locks:
        times = [median_low(round[who][name] for round in entry["rounds"]) for name in PERCENTILES]
        axis.plot(PERCENTILES.values(), times, marker="o", markersize=3, label=entry["lock"])
    axis.set_yscale("log")
    axis.grid(axis="y")


def draw_throughput(axis, locks: list[dict]) -> None:
    """Reads below, writes above, paler."""
    for place, entry in enumerate(locks):
        reads, writes = (
            median_low(round[name] for round in entry["rounds"]) / 1e6
            for name in ("readsPerSecond", "writesPerSecond"))
        axis.bar(place, reads, color=COLORS[place])
        axis.bar(place, writes, bottom=reads, color=COLORS[place], alpha=0.5)
    axis.set_xticks([])
    axis.set_xlabel("reads, and paler above them writes")
    axis.grid(axis="y")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: locks_chart.py FIGURES CHART")
    main(*map(Path, sys.argv[1:]))
