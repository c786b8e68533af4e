"use strict";
// Text and elements. Names of files are untrusted text, so everything is shown with textContent or as an attribute.

const $ = (id) => document.getElementById(id);

const number = (count) => count.toLocaleString("en").replaceAll(",", "\u202f");

// `1 picture`, `2 pictures`.
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// `2024-07-14 18:03`, as the clock of the camera showed it; undefined if that is not known.
const dateText = ({ taken }) => taken?.slice(0, "2024-07-14T18:03".length).replace("T", " ");

const pixels = (width, height) => `${width} × ${height}`;

// Characters that are not visible, or turn the direction of writing, are escaped.
const visible = (text) => text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
  (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function set(element, text) { if (element.textContent !== text) element.textContent = text; }

function showNotice(text) {
  set($("notice"), text);
  $("notice").hidden = !text;
}
