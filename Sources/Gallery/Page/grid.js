// The grid. Only the folders and pictures near the window have elements, so that the page is as quick with ten thousand
// pictures as with a hundred. All places are known beforehand, so nothing moves when a picture is loaded.

const grid = $("grid");
let sections = [];
let rows = [];                  // of all sections, from top to bottom
let order = [];                 // all pictures that are shown, in their order
let placeOf = new Map();        // from picture to { row, tile, index }
const shownSections = new Map();  // from section to { element, list }
const shownTiles = new Map();   // from picture to { item, tile }: its list item, and where that was put
let current = null;             // the picture that the keyboard goes to
let laidWidth = 0;

const rowHeight = () => innerWidth < 600 ? 128 : innerWidth < 1100 ? 176 : 212;
const gridTop = () => Math.round(grid.getBoundingClientRect().top + scrollY);

// Lays out groups afresh, and draws what is near the window.
function layOut(groups) {
  laidWidth = grid.clientWidth;
  sections = sectionsOf(groups, laidWidth, rowHeight());
  rows = sections.flatMap((section) => section.rows);
  placeOf = new Map();
  order = [];
  for (const row of rows) {
    for (const tile of row.tiles) {
      placeOf.set(tile.picture, { row, tile, index: order.length });
      order.push(tile.picture);
    }
  }
  if (!placeOf.has(current)) current = null;
  const end = sections.at(-1);
  grid.style.height = `${end ? end.top + end.height : 0}px`;
  for (const { element } of shownSections.values()) element.remove();
  shownSections.clear();
  draw();
}

// The index of the first row or section that ends below a place of the grid.
function firstBelow(items, top) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = low + high >> 1;
    if (items[middle].top + items[middle].height > top) high = middle;
    else low = middle + 1;
  }
  return low;
}

function between(items, top, end) {
  const found = [];
  for (let index = firstBelow(items, top); index < items.length && items[index].top < end; index += 1) {
    found.push(items[index]);
  }
  return found;
}

// Makes the elements near the window, and removes the others.
function draw() {
  const top = scrollY - gridTop();
  const [from, to] = [top - innerHeight * 0.75, top + innerHeight * 1.75];
  const wanted = new Map();
  const take = (row) => { if (!wanted.has(row.section)) wanted.set(row.section, []); wanted.get(row.section).push(row); };
  // The element with the focus stays, so that the keyboard can go on from it.
  const held = grid.contains(document.activeElement) && current ? placeOf.get(current).row : null;
  const near = between(rows, from, to);
  if (held && !near.includes(held)) near.push(held);
  near.sort((a, b) => a.top - b.top).forEach(take);
  for (const section of between(sections, from, to)) if (!wanted.has(section)) wanted.set(section, []);

  const pictures = new Set(near.flatMap(({ tiles }) => tiles.map(({ picture }) => picture)));
  for (const [picture, { item }] of shownTiles) {
    if (pictures.has(picture)) continue;
    item.remove();
    shownTiles.delete(picture);
  }
  for (const [section, { element }] of shownSections) {
    if (wanted.has(section)) continue;
    element.remove();
    shownSections.delete(section);
  }
  let before = null;
  for (const section of [...wanted.keys()].sort((a, b) => b.top - a.top)) {
    if (!shownSections.has(section)) shownSections.set(section, newSection(section));
    const { element, list } = shownSections.get(section);
    if (!element.isConnected) grid.insertBefore(element, before);
    before = element;
    drawTiles(list, section, wanted.get(section));
  }
  setTabStop(top);
}

function drawTiles(list, section, near) {
  let place = 0;
  for (const row of near) {
    for (const tile of row.tiles) {
      if (!shownTiles.has(tile.picture)) shownTiles.set(tile.picture, { item: newTile(tile.picture), tile: null });
      const shown = shownTiles.get(tile.picture);
      const { item } = shown;
      if (list.children[place] !== item) list.insertBefore(item, list.children[place] ?? null);
      place += 1;
      if (shown.tile === tile) continue;
      shown.tile = tile;
      putTile(item, tile, row, row.top - section.top - section.head);
    }
  }
}

function newSection({ group, top, height, head }) {
  const element = make("section");
  element.style.top = `${top}px`;
  element.style.height = `${height}px`;
  if (head > 0) element.append(newHeading(group));
  const list = make("ul");
  element.append(list);
  return { element, list };
}

// The path of a folder; each of its parts leads to that folder.
function newHeading({ key, text, pictures }) {
  const heading = make("h2");
  const [keys, texts] = [key.split("/"), text.split("/")];
  const parts = make("span", "path");
  if (key === "") parts.append(make("span", "", $("title").textContent));
  else {
    texts.forEach((part, index) => {
      if (index > 0) parts.append("/");
      // The first part of an absolute path is empty.
      if (part === "") return;
      const link = make("a", "", part);
      link.href = hashOf({ folder: keys.slice(0, index + 1).join("/") });
      parts.append(link);
    });
  }
  parts.title = text;
  heading.append(parts, make("span", "quiet", number(countOf(pictures))));
  return heading;
}

function newTile(picture) {
  const item = make("li");
  const link = make(picture.reason ? "span" : "a", "tile");
  link.title = picture.text;
  link.dataset.name = picture.name;
  item.append(link);
  if (picture.reason) {
    link.classList.add("missing");
    link.append(make("span", "name", picture.name), make("span", "why", picture.reason));
    return item;
  }
  if (picture.color) link.style.background = picture.color;
  if (picture.thumbhash) link.append(hashCanvas(picture.thumbhash));
  const image = newImage(picture);
  image.loading = "lazy";
  image.decoding = "async";
  link.append(image.parentElement);
  return item;
}

function putTile(item, tile, row, top) {
  const { style } = item;
  [style.left, style.top, style.width, style.height] = [tile.left, top, tile.width, row.height].map((side) => `${side}px`);
  // The choice of pictures may have changed.
  item.ariaPosInSet = placeOf.get(tile.picture).index + 1;
  item.ariaSetSize = order.length;
  if (tile.picture.reason) return;
  item.firstChild.href = hashOf({ ...state, picture: tile.picture.key });
  const image = item.querySelector("img");
  const width = Math.max(tile.width, row.height * ratioOf(tile.picture));
  if (image) setSources(image, tile.picture, gridThumbnails(tile.picture), width);
}

// One picture of the grid can be reached with Tab: the current one, or else the first one in the window.
function setTabStop(top) {
  const visibleRow = rows[Math.min(rows.length - 1, firstBelow(rows, Math.max(0, top)))];
  const stop = shownTiles.has(current) ? current : visibleRow?.tiles[0].picture;
  for (const [picture, { item }] of shownTiles) item.firstChild.tabIndex = picture === stop ? 0 : -1;
}

// Scrolls only as far as needed to show a picture, below the heading that stays at the top.
function reveal(picture) {
  const { row } = placeOf.get(picture);
  const top = gridTop() + row.top;
  const least = top + row.height + 12 - innerHeight;
  const most = top - row.section.head - 8;
  if (scrollY > most) scrollTo(0, most);
  else if (scrollY < least) scrollTo(0, Math.min(least, most));
  current = picture;
  draw();
}

function focusPicture(picture) {
  reveal(picture);
  shownTiles.get(picture).item.firstChild.focus({ preventScroll: true });
}

// Keeps the first picture of the window in its place when the width changes, although its row may get another height.
function layOutAgain() {
  if (grid.clientWidth === laidWidth) return draw();
  const top = scrollY - gridTop();
  const first = top > 0 ? rows[firstBelow(rows, top)] : null;
  const share = first ? (top - first.top) / first.height : 0;
  const hasFocus = grid.contains(document.activeElement) && current;
  layOut(sections.map(({ group }) => group));
  if (hasFocus) shownTiles.get(current)?.item.firstChild.focus({ preventScroll: true });
  if (!first) return;
  const { row } = placeOf.get(first.tiles[0].picture);
  scrollTo(0, gridTop() + row.top + share * row.height);
}

let isDrawingSoon = false;
function drawSoon() {
  if (isDrawingSoon) return;
  isDrawingSoon = true;
  requestAnimationFrame(() => { isDrawingSoon = false; draw(); });
}

addEventListener("scroll", drawSoon, { passive: true });
new ResizeObserver(() => { if (laidWidth > 0) layOutAgain(); }).observe(grid.parentElement);
addEventListener("resize", drawSoon);

// The events of images do not bubble.
grid.addEventListener("load", ({ target }) => target.classList.add("loaded"), true);
grid.addEventListener("error", ({ target }) => {
  const tile = target.closest(".tile");
  target.parentElement.remove();
  tile.classList.add("failed");
  tile.append(make("span", "name", tile.dataset.name), make("span", "why", "The thumbnail cannot be loaded."));
}, true);
