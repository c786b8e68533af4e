// The latest thumbnails.

const THUMBNAILS = 24;          // shown on the page

const pictures = new Map();     // from id to { thumbnail, item, url }
let seenThumbnails = -1;        // how many were made when the list was loaded
let isLoadingThumbnails = false;
let hasLastThumbnails = false;  // those of the end were shown, and the job answers no more

// The list does not change while the user points at it, goes through it with the keyboard, or looks at a picture.
function areHeld() {
  const list = $("thumbnails");
  return pictures.size > 0 && ($("viewer").open || list.matches(":hover") || list.querySelector(":focus-visible") !== null);
}

async function loadThumbnails(count) {
  set($("thumbnails-now"), areHeld() ? "the list waits while you look" : "");
  if (count === seenThumbnails || isLoadingThumbnails || areHeld()) return;
  isLoadingThumbnails = true;
  try {
    const { thumbnails } = await (await ask("thumbnails")).json();
    const latest = thumbnails.slice(0, THUMBNAILS);
    await Promise.all(latest.filter(({ id }) => !pictures.has(id)).map(loadPicture));
    if (areHeld() || hasLastThumbnails) return;
    showThumbnails(latest.map(({ id }) => id).filter((id) => pictures.has(id)));
    seenThumbnails = count;
  } catch {
    // the connection is gone: the next status loads again
  } finally {
    isLoadingThumbnails = false;
  }
}

// The thumbnails of a run that has ended: the job does not answer any more.
function showLastThumbnails(latest) {
  for (const { thumbnail, file } of latest) {
    if (!pictures.has(thumbnail.id)) addPicture(thumbnail, new Blob([decodeBase64(file)], { type: thumbnail.type }));
  }
  hasLastThumbnails = true;
  if (latest.length > 0 && !areHeld()) showThumbnails(latest.map(({ thumbnail }) => thumbnail.id));
}

const decodeBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function addPicture(thumbnail, blob) {
  const url = URL.createObjectURL(blob);
  pictures.set(thumbnail.id, { thumbnail, url, item: newPicture(thumbnail, url) });
}

function showThumbnails(ids) {
  const list = $("thumbnails");
  const wanted = new Set(ids);
  for (const [id, { item, url }] of pictures) {
    if (wanted.has(id)) continue;
    item.remove();
    URL.revokeObjectURL(url);
    pictures.delete(id);
  }
  if (ids.length === 0) {
    const { counters, pressure } = lastStatus;
    const when = pressure.level === "normal" ? "at the moment" : "while memory is tight";
    list.replaceChildren(make("li", "empty", counters.thumbnails > 0 ? `None are kept ${when}.` : "None yet."));
    return;
  }
  if (list.querySelector(".empty")) list.replaceChildren();
  ids.forEach((id, place) => {
    const { item } = pictures.get(id);
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] || null);
  });
}

async function loadPicture(thumbnail) {
  try {
    const blob = await (await ask(`thumbnails/${thumbnail.id}`)).blob();
    if (!pictures.has(thumbnail.id)) addPicture(thumbnail, blob);
  } catch (error) {
    // A fast job replaces some before they are loaded. Other errors are those of the connection.
    if (!(error instanceof RefusedError)) throw error;
  }
}

function newPicture(thumbnail, url) {
  const item = make("li");
  const button = make("button", "picture");
  button.type = "button";
  button.title = nameOf(thumbnail.source);
  const image = make("img");
  image.src = url;
  image.alt = `Thumbnail of ${nameOf(thumbnail.source)}`;
  button.append(image);
  button.addEventListener("click", () => openViewer(thumbnail.id));
  const facts = make("div", "facts");
  facts.append(make("span", "", pixels(thumbnail)), " ", make("span", "", fileSize(thumbnail.bytes)));
  item.append(button, make("div", "name", nameOf(thumbnail.source).split("/").pop()), facts);
  return item;
}

const pixels = ({ width, height }) => `${width} × ${height}`;
