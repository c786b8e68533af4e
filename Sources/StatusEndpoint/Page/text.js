// Formats numbers and creates elements.

const units = ["B", "KiB", "MiB", "GiB", "TiB"];
function bytes(count) {
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

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

// A path in one line. If it is too long, its folders are shortened first, because file names tell paths apart.
function path(text) {
  const element = make("div", "name path");
  const file = text.lastIndexOf("/") + 1;
  element.append(make("span", "folders", text.slice(0, file)), make("span", "file", text.slice(file)));
  element.title = text;
  return element;
}

function set(element, text) { if (element.textContent !== text) element.textContent = text; }
