// One picture, as large as the window and its thumbnails allow.

const SIDE = 720;               // pixels of the longer side to which small thumbnails are enlarged
const MOST_SCALE = 2;           // but not more than so many times

const viewer = $("viewer");
let viewed = null;
const neighbours = new Set();   // images of the pictures beside it, held so that the next step is quick

const viewable = () => order.filter((picture) => !picture.reason);

function view(picture) {
  viewed = picture;
  const all = viewable();
  const index = all.indexOf(picture);
  set($("viewer-name"), picture.name);
  $("viewer-name").title = picture.text;
  const place = `${number(index + 1)} of ${number(all.length)}`;
  set($("viewer-place"), [place, dateText(picture), picture.folderText].filter(Boolean).join(" · "));
  $("previous").disabled = index <= 0;
  $("next").disabled = index >= all.length - 1;
  showFiles(picture);

  const parts = [newImage(picture).parentElement];
  if (picture.thumbhash) parts.unshift(hashCanvas(picture.thumbhash));
  $("viewer-problem").hidden = true;
  $("frame").replaceChildren(...parts, $("viewer-problem"));
  if (!viewer.open) viewer.showModal();
  fit();
  neighbours.clear();
  for (const beside of [all[index + 1], all[index - 1]].filter(Boolean)) {
    const early = newImage(beside);
    setSources(early, beside, viewerThumbnails(beside), frameSize(beside).width);
    neighbours.add(early);
  }
}

function showFiles(picture) {
  const links = thumbnailsOf(picture).map(({ index, width, height, type }) =>
    fileLink(thumbnailAddress(picture, index),
      [window.gallery.sizes[index].name, type?.replace("image/", "")].filter(Boolean).join(" "), pixels(width, height)));
  const original = originalOf(picture);
  const size = pixels(picture.width, picture.height);
  links.push(original ? fileLink(original, "original", size) : make("span", "quiet", `original ${size}`));
  $("viewer-files").replaceChildren(...links);
}

function fileLink(address, name, size) {
  const link = make("a", "", visible(name));
  link.append(" ", make("span", "quiet", size));
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener";
  return link;
}

function frameSize(picture) {
  const { width, height } = viewerThumbnails(picture).at(-1);
  const scale = Math.min($("stage").clientWidth / width, $("stage").clientHeight / height,
    Math.min(MOST_SCALE, Math.max(1, SIDE / Math.max(width, height))));
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) };
}

function fit() {
  if (!viewed || !viewer.open) return;
  const { width, height } = frameSize(viewed);
  $("frame").style.width = `${width}px`;
  $("frame").style.height = `${height}px`;
  const image = $("frame").querySelector("img");
  if (image) setSources(image, viewed, viewerThumbnails(viewed), width);
}

// Goes to the picture that many places after (or before) the viewed one, if there is one.
function step(places) {
  const all = viewable();
  const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(viewed) + places))];
  if (next !== viewed) goSoon({ ...state, picture: next.key });
}

$("previous").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
$("close").addEventListener("click", () => viewer.close());
// A click beside the picture.
$("stage").addEventListener("click", ({ target }) => { if (target === $("stage")) viewer.close(); });

viewer.addEventListener("keydown", (event) => {
  const places = { ArrowLeft: -1, ArrowUp: -1, PageUp: -10, Home: -Infinity,
    ArrowRight: 1, ArrowDown: 1, PageDown: 10, End: Infinity }[event.key];
  if (hasModifier(event) || places === undefined) return;
  event.preventDefault();
  step(places);
});

// Escape closes the dialog too. The focus goes to the picture that was viewed last.
viewer.addEventListener("close", () => {
  // The event comes late: another picture may have been opened.
  if (viewer.open) return;
  const last = viewed;
  viewed = null;
  neighbours.clear();
  $("frame").replaceChildren($("viewer-problem"));
  if (state.picture) leavePicture();
  if (placeOf.has(last)) focusPicture(last);
});

$("frame").addEventListener("load", ({ target: image }) => image.classList.add("loaded"), true);
$("frame").addEventListener("error", ({ target: image }) => {
  image.parentElement.remove();
  set($("viewer-problem"), "The thumbnail cannot be loaded.");
  $("viewer-problem").hidden = false;
}, true);

new ResizeObserver(fit).observe($("stage"));
