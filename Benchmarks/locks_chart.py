"""locks_chart.py FIGURES CHART: what bench-locks has written as JSON, as an SVG of accesses compared with a mutex.

It writes the SVG itself: a plotting library writes thousands of lines for the same lines.
"""

import json
import math
import sys
from pathlib import Path

READS = 90
BASE = "Locked"
INK = "#7a7f87"  # readable on white and on black
COLORS = ["#2f81f7", "#d29922", "#3fb950", "#a371f7", "#f85149", "#39c5cf"]
WIDTH, HEIGHT, GAP, LEFT, TOP = 200, 180, 16, 44, 40
LOWEST, HIGHEST = -7, 2  # powers of two


def main(figures: Path, chart: Path) -> None:
    entries = [entry for entry in json.loads(figures.read_text())["figures"] if entry["reads"] == READS]
    rates = {
        # Other programs can only slow a round down.
        (entry["guardName"], entry["sectionNanoseconds"], entry["threads"]): max(entry["accessesPerSecond"])
        for entry in entries}
    guards, sections, threads = (list(dict.fromkeys(values)) for values in zip(*rates, strict=True))
    guards.remove(BASE)
    lines = []
    for number, section in enumerate(sections):
        left = LEFT + number * (WIDTH + GAP)
        lines += axes(left, section, threads, is_first=number == 0)
        for guard, color in zip(guards, COLORS, strict=True):
            points = " ".join(
                f"{across(left, threads, count)},{down(rates[guard, section, count] / rates[BASE, section, count])}"
                for count in threads)
            lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    for number, (guard, color) in enumerate(zip(guards, COLORS, strict=True)):
        x, y = LEFT + number % 3 * 280, TOP + HEIGHT + 52 + number // 3 * 18
        lines.append(f'<path d="M{x} {y - 4}h20" stroke="{color}" stroke-width="1.5"/>')
        lines.append(text(x + 26, y, guard, "start"))
    width, height = LEFT + len(sections) * (WIDTH + GAP), TOP + HEIGHT + 80
    chart.write_text("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}">', *lines, "</svg>", ""]))


def axes(left: int, section: int, threads: list[int], is_first: bool) -> list[str]:
    length = f"{section} ns" if section < 1000 else f"{section // 1000} µs"
    lines = [text(left + WIDTH / 2, TOP - 10, f"{length} under the lock", "middle")]
    for power in range(LOWEST + 1, HIGHEST, 2):
        y = down(2**power)
        lines.append(f'<path d="M{left} {y}h{WIDTH}" stroke="{INK}" stroke-opacity="0.25"/>')
        if is_first:
            lines.append(text(left - 6, y + 4, f"{2**power}" if power >= 0 else f"1/{2**-power}", "end"))
    lines.append(f'<path d="M{left} {down(1)}h{WIDTH}" stroke="{INK}" stroke-dasharray="2 3"/>')
    lines += [text(across(left, threads, count), TOP + HEIGHT + 14, f"{count}", "middle") for count in threads]
    lines.append(text(left + WIDTH / 2, TOP + HEIGHT + 30, "threads", "middle"))
    if is_first:
        lines.append(text(0, TOP - 28, f"Accesses, of which {READS} % read; the mutex has 1", "start"))
    return lines


def across(left: int, threads: list[int], count: int) -> float:
    return round(left + 8 + threads.index(count) * (WIDTH - 16) / (len(threads) - 1), 1)


def down(ratio: float) -> float:
    power = min(max(math.log2(ratio), LOWEST), HIGHEST)
    return round(TOP + HEIGHT * (HIGHEST - power) / (HIGHEST - LOWEST), 1)


def text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: locks_chart.py FIGURES CHART")
    main(*map(Path, sys.argv[1:]))
