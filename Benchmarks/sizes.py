"""sizes.py CORPUS: thumbjob beside other thumbnailers, from thumbnails to previews of 4096 pixels.

It measures as bench.py does, where all boxes have 256 pixels: quality 80, two processes or threads, all programs in
turn, ratios within a round. No program enlarges. A program makes several sizes in one run if it can: thumbjob from one
decoding; pyvips makes the smaller ones from the largest, and Pillow each from the one before, which is their fastest
way. vipsthumbnail needs a run for each size, and is left out there.

quality.py with --size tells how good the thumbnails of each size are.

Writes sizes.md and sizes.json to --out; --quote FILE also puts the tables between the lines
`<!-- make bench-sizes -->` and `<!-- /make bench-sizes -->` of FILE.
"""

import argparse
import datetime
import json
from pathlib import Path
from statistics import median

import bench

SIZES = ("720", "1024", "1440", "2048", "4096", "1440,250", "2048,1600,1024,640,320")
BEGIN, END = "<!-- make bench-sizes -->\n", "<!-- /make bench-sizes -->\n"


def contenders(sizes: str) -> tuple[bench.Contender, ...]:
    count = len(sizes.split(","))
    single = {"VIPS_CONCURRENCY": "1"}
    found = [
        bench.Contender("thumbjob", bench.thumbjob(2, sizes), sizes=count),
        bench.Contender("pyvips", bench.python("pyvips", sizes), environment=single, sizes=count),
        bench.Contender("Pillow", bench.python("pillow", sizes), sizes=count)]
    if count == 1:
        box = f"{sizes}x{sizes}"
        found += [
            bench.Contender(
                "vipsthumbnail",
                bench.halves("vipsthumbnail", f"--vips-cache-max=0 -s {box}> -o OUT/%s.jpg[Q=80,keep=icc]"),
                environment=single),
            bench.Contender(
                "GraphicsMagick",
                bench.halves(
                    "gm", f"mogrify -create-directories -output-directory OUT -auto-orient -size {box} -resize {box}> "
                    "-quality 80"),
                environment={"OMP_NUM_THREADS": "1"})]
    return tuple(found)


def main() -> None:
    parser = argparse.ArgumentParser(description="thumbjob beside other thumbnailers, at several sizes")
    parser.add_argument("corpus", type=Path, help="what photos.sh has laid out")
    parser.add_argument("--sets", default="camera,web,photos", help="(default: camera,web,photos)")
    parser.add_argument(
        "--boxes", nargs="+", default=SIZES, metavar="BOX", help="sides of boxes, with commas between those of one run")
    parser.add_argument("--rounds", type=int, default=5, help="that count (default: 5)")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    parser.add_argument("--quote", type=Path, metavar="FILE", help="a file to put the table into")
    options = parser.parse_args()
    sets = options.sets.split(",")
    bench.check(options.corpus, sets, dict.fromkeys(sets, options.rounds))
    bench.check_quote(options.quote, BEGIN, END)
    options.out.mkdir(parents=True, exist_ok=True)

    lines, figures = [], {}
    for name in sets:
        lines += [
            f"**{name}**", "",
            "| box | thumbjob: time · CPU · memory · written | others' least time | least CPU | memory | written |",
            "|" + " --- |" * 6]
        for sizes in options.boxes:
            runs = bench.measure(
                name, (options.corpus / name).absolute(), options.rounds, contenders(sizes))
            figures[f"{name} {sizes}"] = {
                key: [bench.asdict(run) for run in all_runs] for key, all_runs in runs.items()}
            lines.append(line(sizes, runs))
        lines.append("")
    title = (
        f"Rounds: {options.rounds}; {datetime.date.today().isoformat()}, {bench.machine()}; "
        f"{'; '.join(bench.versions())}")
    text = "\n".join([*lines, title, ""])
    (options.out / "sizes.json").write_text(json.dumps({"title": title, "figures": figures}, indent=1) + "\n")
    (options.out / "sizes.md").write_text(text)
    print(text)
    if options.quote:
        bench.quote(text, options.quote, BEGIN, END)


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def line(sizes: str, runs: dict[str, list[bench.Run]]) -> str:
    ours = runs["thumbjob"]
    peers = bench.peers(runs)
    cells = [
        sizes.replace(",", " + "),
        f"**{bench.duration(median(run.seconds for run in ours))}** · "
        f"{bench.duration(median(run.cpu_seconds for run in ours))} · "
        f"{bench.mebibytes(max(run.together for run in ours))} · {megabytes(ours[0].written)}"]
    for figure in ("seconds", "cpu_seconds"):
        least, best = min((bench.ratio(runs, name, figure), name) for name in peers)
        cells.append(f"{least:.2f}× ({best})")
    # `best` has the least processor time.
    cells += [bench.mebibytes(max(run.together for run in runs[best])), megabytes(runs[best][0].written)]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
