"""An SVG of memory, open files and threads over time."""

from xml.sax.saxutils import escape

_WIDTH, _LEFT, _RIGHT, _TOP, _PANEL, _GAP = 900, 70, 40, 80, 170, 55
_LONG, _SHORT = "#1f5fa8", "#b9b9b9"
# As many points as the eye can tell apart.
_MOST_POINTS = 1200


def _thinned(points):
    """The highest point of each of at most `_MOST_POINTS` parts."""
    step = max(1, len(points) // _MOST_POINTS)
    return [max(points[start : start + step], key=lambda point: point[1]) for start in range(0, len(points), step)]


def _round_up(value):
    """The next of 1, 2, 5, 10, 20 …"""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= value:
                return factor * power
        power *= 10


def _marks(duration):
    """The times that are named, in seconds: six to fifteen whole minutes, or tens of seconds."""
    unit = 10 if duration < 180 else 60
    step = unit * _round_up(duration / unit / 15)
    return [step * index for index in range(int(duration // step) + 1)]


def _time(seconds, duration):
    return f"{seconds} s" if duration < 180 else f"{seconds // 60} min"


def chart(title, tracks, duration):
    """An SVG as text: a panel each for memory, files and threads. Long-lived processes are drawn over the others."""
    panels = (("memory, MiB", lambda sample: sample.rss / (1 << 20)), ("open files", lambda sample: sample.files),
              ("threads", lambda sample: sample.threads))
    height = _TOP + len(panels) * (_PANEL + _GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="15">{escape(title)}</text>',
        f'<text x="{_LEFT}" y="44" fill="{_LONG}">the long-lived process</text>',
        f'<text x="{_LEFT + 160}" y="44" fill="#777">short-lived processes</text>']
    for index, (name, value) in enumerate(panels):
        lines += _panel(name, value, tracks, max(duration, 1), _TOP + index * (_PANEL + _GAP))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(name, value, tracks, duration, top):
    most = _round_up(max((value(sample) for track in tracks for sample in track.samples), default=1))
    width = _WIDTH - _LEFT - _RIGHT

    def place(seconds, height):
        return f"{_LEFT + width * seconds / duration:.1f},{top + _PANEL * (1 - height / most):.1f}"

    lines = [f'<text x="{_LEFT}" y="{top - 4}" fill="#333">{escape(name)}</text>']
    for part in range(5):
        y = top + _PANEL * (1 - part / 4)
        lines.append(f'<line x1="{_LEFT}" x2="{_LEFT + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{most * part / 4:g}</text>')
    for seconds in _marks(duration):
        x = _LEFT + width * seconds / duration
        lines.append(f'<text x="{x:.1f}" y="{top + _PANEL + 17}" text-anchor="middle" fill="#555">'
                     f'{_time(seconds, duration)}</text>')
    for track in sorted(tracks, key=lambda track: track.is_long):
        points = _thinned([(sample.seconds, value(sample)) for sample in track.samples])
        if points:
            colour, stroke = (_LONG, 1.4) if track.is_long else (_SHORT, 1)
            lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{stroke}" '
                         f'points="{" ".join(place(*point) for point in points)}"/>')
    return lines
