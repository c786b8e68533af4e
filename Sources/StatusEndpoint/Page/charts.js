// The charts of queue and memory over time.

const SECONDS = 600;            // shown in the charts

const samples = [];             // { at, running, waiting, reserved, resident, budget, level }
const levels = ["normal", "warning", "critical"];

async function loadHistory() {
  const history = await (await ask("history")).json();
  samples.length = 0;
  history.elapsed_seconds.forEach((at, index) => samples.push({
    at, running: history.running[index], waiting: history.waiting[index], reserved: history.reserved_bytes[index],
    resident: history.resident_bytes[index], budget: history.budget_bytes[index],
    level: levels.indexOf(history.pressure[index]),
  }));
}

function addSample({ elapsed_seconds: at, counters, memory, pressure }) {
  if (samples.length > 0 && at <= samples[samples.length - 1].at) return;
  samples.push({
    at, running: counters.running, waiting: counters.waiting, reserved: memory.reserved_bytes,
    resident: memory.resident_bytes, budget: memory.budget_bytes, level: levels.indexOf(pressure.level),
  });
  while (samples[0].at < at - SECONDS) samples.shift();
}

function drawing(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The next round number that is not below the value.
function roundUp(value, base) {
  let unit = 1;
  while (unit * base <= value) unit *= base;
  for (const step of [1, 1.5, 2, 3, 4, 5, 8, 10, 16, 20, 32, 40, 50, 64, 80, 100, 128, 256, 512, 1024]) {
    if (unit * step >= value) return unit * step;
  }
  return unit * base;
}

function draw(place, series, boundOf, label, base, describe) {
  if (samples.length === 0) return;
  const [width, height, left, bottom] = [Math.max(260, place.clientWidth || 600), 170, 4, 20];
  const end = samples[samples.length - 1].at;
  const span = Math.min(SECONDS, Math.max(60, end - samples[0].at));
  const bound = boundOf ? Math.max(...samples.map(boundOf)) : 0;
  const top = roundUp(Math.max(1, bound, ...series.flatMap(({ of }) => samples.map(of))), base);
  const x = (at) => left + (width - left) * (1 - (end - at) / span);
  const y = (value) => (height - bottom) * (1 - value / top) + 1;
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": describe() });
  tightSpans().forEach(({ from, to, level }) => svg.append(drawing("rect", {
    class: level === 2 ? "critical" : "tight", x: Math.max(left, x(from)), y: 1,
    width: Math.max(2, x(to) - Math.max(left, x(from))), height: height - bottom,
  })));
  for (const part of [0, 0.5, 1]) {
    svg.append(drawing("line", { class: "axis", x1: left, x2: width, y1: y(top * part), y2: y(top * part) }));
  }
  const shown = samples.filter(({ at }) => at >= end - span);
  for (const { of, kind } of series) {
    const line = shown.map((sample) => `${x(sample.at).toFixed(1)},${y(of(sample)).toFixed(1)}`);
    if (kind === "first") {
      line.push(`${x(end).toFixed(1)},${y(0)}`, `${x(shown[0].at).toFixed(1)},${y(0)}`);
      svg.append(drawing("polygon", { class: kind, points: line.join(" ") }));
    } else {
      svg.append(drawing("polyline", { class: kind, points: line.join(" ") }));
    }
  }
  if (boundOf) {
    const line = shown.map((sample) => `${x(sample.at).toFixed(1)},${y(boundOf(sample)).toFixed(1)}`);
    svg.append(drawing("polyline", { class: "bound", points: line.join(" ") }));
  }
  svg.append(drawing("text", { x: left + 4, y: y(top) + 13 }, label(top)));
  svg.append(drawing("text", { x: left, y: height - 4 }, `${time(span)} ago`));
  svg.append(drawing("text", { x: width, y: height - 4, "text-anchor": "end" }, "now"));
  const legend = place.querySelector(".legend");
  place.replaceChildren(svg, legend || makeLegend(series, boundOf));
}

function makeLegend(series, boundOf) {
  const legend = make("div", "legend");
  for (const { name, kind } of series) legend.append(make("span", kind, name));
  if (boundOf) legend.append(make("span", "bound", "budget"));
  return legend;
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
  draw($("queue-chart"), [
    { name: "waiting", kind: "first", of: (sample) => sample.waiting },
    { name: "running", kind: "second", of: (sample) => sample.running },
  ], null, number, 10, () => `${now.running} operations run and ${now.waiting} wait`);
  draw($("memory-chart"), [
    { name: "reserved", kind: "first", of: (sample) => sample.reserved },
    { name: "held by the process", kind: "second", of: (sample) => sample.resident },
  ], (sample) => sample.budget, bytes, 1024,
  () => `${bytes(now.reserved)} of ${bytes(now.budget)} are reserved; the process holds ${bytes(now.resident)}`);
}

addEventListener("resize", drawCharts);
document.addEventListener("visibilitychange", drawCharts);
