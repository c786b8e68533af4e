// What is shown, as the part of the address after `#`, so that the browser's back button, reloading and links work:
// `#folder=2024/coast&search=sun&missing&picture=2024/coast/a.jpg`. Folders and pictures are named by their keys.

const WAIT = 300;               // milliseconds; browsers refuse changes of the address that are more frequent over a long time
const NOTHING = { folder: "", search: "", missing: false, picture: "" };

let state = null;
let groups = [];
let waiting = 0;                // the timer until what is shown is written into the address

function hashOf({ folder, search, missing, picture }) {
  const parts = [folder && `folder=${folder}`, search && `search=${encodeURIComponent(search)}`, missing && "missing",
    picture && `picture=${picture}`].filter(Boolean);
  return `#${parts.join("&")}`;
}

// The text may have been typed or changed by a program that decodes addresses.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return null; }
}

function keyFrom(text) {
  const plain = decoded(text);
  return plain === null ? text : pathAddress(plain);
}

function stateOf(hash) {
  const found = { ...NOTHING };
  for (const part of hash.slice(1).split("&")) {
    const [name, value = ""] = [part.split("=", 1)[0], part.slice(part.indexOf("=") + 1)];
    if (name === "folder" || name === "picture") found[name] = keyFrom(value);
    if (name === "search") found.search = decoded(value) ?? "";
    if (name === "missing") found.missing = true;
  }
  return found;
}

// An empty fragment would be a link to the top.
const addressOf = (shown) => hashOf(shown) === "#" ? location.pathname + location.search : hashOf(shown);

// Shows something new, which the back button leaves.
function go(next) {
  writeAddress();
  history.pushState({ opened: !state.picture && Boolean(next.picture) }, "", addressOf(next));
  show(next);
}

// Shows something else in place of what is shown.
function goSoon(next) {
  show(next);
  writeSoon();
}

function writeSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(writeAddress, WAIT);
}

// Also writes the place on the page, for the way back.
function writeAddress() {
  clearTimeout(waiting);
  history.replaceState({ ...history.state, top: scrollY }, "", addressOf(state));
}

// After the viewer was closed: back to where it was opened, if that was here.
function leavePicture() {
  clearTimeout(waiting);
  state = { ...state, picture: "" };
  if (history.state?.opened) history.back();
  else history.replaceState(null, "", addressOf(state));
}

const isSameChoice = (left, right) => ["folder", "search", "missing"].every((name) => left[name] === right[name]);

function show(next, top = 0) {
  const isChanged = !state || !isSameChoice(state, next);
  state = next;
  if (isChanged) {
    showChoice();
    scrollTo(0, top);
    draw();
  }
  showPicture();
}

function showChoice() {
  const found = chosen(groups, state);
  layOut(found);
  const count = (some, isCounted) => some.reduce((sum, { pictures }) => sum + pictures.filter(isCounted).length, 0);
  const all = count(groups, ({ reason }) => !reason);
  const isAll = isSameChoice(state, NOTHING);
  const shown = count(found, ({ reason }) => state.missing || !reason);
  if (isAll) set($("count"), counted(all, "picture"));
  else if (state.missing) set($("count"), `${number(shown)} missing`);
  else set($("count"), `${number(shown)} of ${counted(all, "picture")}`);
  if ($("search").value !== state.search) $("search").value = state.search;
  $("missing").ariaPressed = String(state.missing);
  markFolder(state.folder);
  $("empty").hidden = order.length > 0;
  set($("empty").firstElementChild, isAll ? "There are no pictures." : "No picture fits.");
  $("show-all").hidden = isAll;
}

function showPicture() {
  showNotice("");
  if (!state.picture) return void (viewer.open && viewer.close());
  const picture = viewable().find(({ key }) => key === state.picture);
  if (picture) {
    if (viewed !== picture) view(picture);
    return;
  }
  const { picture: key } = state;
  const isElsewhere = groups.some(({ pictures }) => pictures.some((other) => other.key === key && !other.reason));
  if (isElsewhere) return show({ ...NOTHING, picture: key });
  if (viewer.open) viewer.close();
  else leavePicture();
  showNotice(`There is no picture ${visible(decoded(key) ?? key)}.`);
}

addEventListener("popstate", ({ state: entry }) => {
  clearTimeout(waiting);
  show(stateOf(location.hash), entry?.top);
});

// Reloading finds the place again. When the page is left it would be too late to save it.
addEventListener("scroll", writeSoon, { passive: true });

// Links of this page do not load it again, and keep the place for the back button.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link || event.button !== 0 || hasModifier(event)) return;
  event.preventDefault();
  if (link.hash === "#grid") return void (order.length > 0 && focusPicture(order[0]));
  go(stateOf(link.hash));
});
