// Formats numbers and creates elements.

// Memory, in binary units.
function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1).replace(/\.0$/, "")} ${units[unit]}`;
}

// The size of a file, in decimal units as file managers use them.
function fileSize(count) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (count >= 999.5 && unit < units.length - 1) { count /= 1000; unit += 1; }
  return `${unit === 0 || count >= 99.95 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

// How many in a second, with two digits.
const perSecond = (rate) => rate === 0 || rate >= 9.95 ? number(Math.round(rate)) : rate.toFixed(rate < 0.995 ? 2 : 1);

function time(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [large, small, unit] = whole < 3600
    ? [Math.floor(whole / 60), whole % 60, ["min", "s"]] : [Math.floor(whole / 3600), Math.floor(whole % 3600 / 60), ["h", "min"]];
  return small === 0 ? `${large} ${unit[0]}` : `${large} ${unit[0]} ${small} ${unit[1]}`;
}

const number = (count) => count.toLocaleString("en").replaceAll(",", "\u202f");

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// A path of the API as text. One that is not UTF-8 comes as an object with its repaired text. Characters that are not
// visible, or turn the direction of writing, are escaped.
const nameOf = (source) => (source.text ?? source).replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
  (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

// A path in one line. If it is too long, its folders are shortened first, because file names tell paths apart.
function path(text) {
  const element = make("div", "name path");
  const file = text.lastIndexOf("/") + 1;
  element.append(make("span", "folders", text.slice(0, file)), make("span", "file", text.slice(file)));
  element.title = text;
  return element;
}

// `1 thumbnail`, `2 thumbnails`.
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// The time of the day.
const clock = (milliseconds) => new Date(milliseconds).toLocaleTimeString("en-GB");

function set(element, text) { if (element.textContent !== text) element.textContent = text; }
