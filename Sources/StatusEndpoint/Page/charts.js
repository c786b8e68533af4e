// The charts of queue, memory and rate over time.

const SECONDS = 600;            // shown in the charts
const RATE_SECONDS = 5;         // over which a rate is measured

const samples = [];             // { at, running, waiting, thumbnails, rate, reserved, resident, budget, level }
const levels = ["normal", "warning", "critical"];

async function loadHistory() {
  const history = await (await ask("history")).json();
  samples.length = 0;
  history.elapsed_seconds.forEach((at, index) => push({
    at, running: history.running[index], waiting: history.waiting[index], thumbnails: history.thumbnails[index],
    reserved: history.reserved_bytes[index], resident: history.resident_bytes[index],
    budget: history.budget_bytes[index], level: levels.indexOf(history.pressure[index]),
  }));
}

// Adds the rate in the last seconds before the sample: the difference to the first sample in that time.
function push(sample) {
  samples.push(sample);
  const first = samples.find(({ at }) => at >= sample.at - RATE_SECONDS);
  sample.rate = sample.at > first.at ? (sample.thumbnails - first.thumbnails) / (sample.at - first.at) : 0;
}

function addSample({ elapsed_seconds: at, counters, memory, pressure }) {
  if (samples.length > 0 && at <= samples[samples.length - 1].at) return;
  push({
    at, running: counters.running, waiting: counters.waiting, thumbnails: counters.thumbnails,
    reserved: memory.reserved_bytes, resident: memory.resident_bytes, budget: memory.budget_bytes,
    level: levels.indexOf(pressure.level),
  });
  while (samples[0].at < at - SECONDS) samples.shift();
}

function drawing(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The next round number that is not below the value, and not far above it, so that the curve uses the height.
function roundUp(value, base) {
  const unit = base ** Math.floor(Math.log(value) / Math.log(base));
  const steps = [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384,
    512, 640, 768];
  return unit * (steps.find((step) => step < base && unit * step >= value) || base);
}

// A series has a name, a kind (its style) and the function that gives its value for a sample. A bound is drawn if that
// leaves the series at least half of the height; otherwise its value is shown above.
function draw(place, { series, bound, label, powersOf, least = 1, describe }) {
  if (samples.length === 0) return;
  // The plot lies below a line of text, and above another.
  const [width, height, left, head] = [Math.max(260, place.clientWidth || 600), 184, 1, 17];
  const base = height - 20;
  const end = samples[samples.length - 1].at;
  const hasEnded = document.body.dataset.link === "ended";
  const span = Math.min(SECONDS, Math.max(hasEnded ? 1 : 30, end - samples[0].at));
  const shown = samples.filter(({ at }) => at >= end - span);
  const most = Math.max(least, ...series.flatMap(({ of }) => shown.map(of)));
  const highest = bound ? Math.max(...shown.map(bound.of)) : 0;
  const isBoundDrawn = highest > 0 && highest <= 2 * most;
  const top = roundUp(isBoundDrawn ? Math.max(most, highest) : most, powersOf);
  const x = (at) => left + (width - left) * (1 - (end - at) / span);
  const y = (value) => base - (base - head) * value / top;
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": describe() });
  tightSpans().forEach(({ from, to, level }) => svg.append(drawing("rect", {
    class: level === 2 ? "critical" : "tight", x: Math.max(left, x(from)), y: head,
    width: Math.max(2, x(to) - Math.max(left, x(from))), height: base - head,
  })));
  for (const part of [0, 0.5, 1]) {
    svg.append(drawing("line", { class: "axis", x1: left, x2: width, y1: y(top * part), y2: y(top * part) }));
  }
  for (const { of, kind } of series) {
    const line = shown.map((sample) => `${x(sample.at).toFixed(1)},${y(of(sample)).toFixed(1)}`);
    if (kind === "first") {
      line.push(`${x(end).toFixed(1)},${y(0)}`, `${x(shown[0].at).toFixed(1)},${y(0)}`);
      svg.append(drawing("polygon", { class: kind, points: line.join(" ") }));
    } else {
      svg.append(drawing("polyline", { class: kind, points: line.join(" ") }));
    }
  }
  if (isBoundDrawn) {
    const line = shown.map((sample) => `${x(sample.at).toFixed(1)},${y(bound.of(sample)).toFixed(1)}`);
    svg.append(drawing("polyline", { class: "bound", points: line.join(" ") }));
  } else if (highest > 0) {
    const text = `↑ ${bound.name} ${label(highest)}`;
    svg.append(drawing("text", { x: width, y: head - 5, "text-anchor": "end" }, text));
  }
  svg.append(drawing("text", { x: left, y: head - 5 }, label(top)));
  svg.append(drawing("text", { x: left, y: height - 4 }, `${time(span)} ${hasEnded ? "before" : "ago"}`));
  svg.append(drawing("text", { x: width, y: height - 4, "text-anchor": "end" }, hasEnded ? "end" : "now"));
  const legend = make("div", "legend");
  for (const { name, kind } of series) legend.append(make("span", kind, name));
  if (isBoundDrawn) legend.append(make("span", "bound", bound.name));
  place.replaceChildren(svg, legend);
}

// The time spans in which memory was tight.
function tightSpans() {
  const spans = [];
  samples.forEach((sample) => {
    const last = spans[spans.length - 1];
    if (last && last.isOpen) last.to = sample.at;
    if (last && last.isOpen && last.level !== sample.level) last.isOpen = false;
    if (sample.level > 0 && !(last && last.isOpen)) {
      spans.push({ from: sample.at, to: sample.at, level: sample.level, isOpen: true });
    }
  });
  return spans;
}

function drawCharts() {
  if (document.hidden || samples.length === 0) return;
  const now = samples[samples.length - 1];
  draw($("queue-chart"), {
    series: [
      { name: "waiting", kind: "first", of: (sample) => sample.waiting },
      { name: "running", kind: "second", of: (sample) => sample.running },
    ],
    label: number, powersOf: 10, describe: () => `${now.running} operations run and ${now.waiting} wait`,
  });
  draw($("memory-chart"), {
    series: [
      { name: "reserved", kind: "first", of: (sample) => sample.reserved },
      { name: "held by the process", kind: "second", of: (sample) => sample.resident },
    ],
    bound: { name: "budget", of: (sample) => sample.budget }, label: bytes, powersOf: 1024,
    describe: () =>
      `${bytes(now.reserved)} of ${bytes(now.budget)} are reserved; the process holds ${bytes(now.resident)}`,
  });
  set($("rate-now"), `${perSecond(now.rate)} thumbnails a second, in the last ${RATE_SECONDS} s`);
  draw($("rate-chart"), {
    series: [{ name: `thumbnails a second, over ${RATE_SECONDS} seconds`, kind: "first", of: (sample) => sample.rate }],
    label: perSecond, powersOf: 10, least: 0.1,
    describe: () => `${perSecond(now.rate)} thumbnails were made each second`,
  });
}

addEventListener("resize", drawCharts);
document.addEventListener("visibilitychange", drawCharts);
