// One thumbnail, large, in a dialog. The arrow keys go to newer and older ones; Escape closes it.

const SIDE = 720;               // pixels of the longer side to which small thumbnails are enlarged
let openedID = 0;               // the thumbnail that is or was shown

function openViewer(id) {
  showInViewer(id);
  $("viewer").showModal();
}

function showInViewer(id) {
  const { thumbnail, url } = pictures.get(id);
  openedID = id;
  const scale = Math.max(1, SIDE / Math.max(thumbnail.width, thumbnail.height));
  const image = $("viewer-picture");
  [image.src, image.alt] = [url, `Thumbnail of ${nameOf(thumbnail.source)}`];
  image.width = thumbnail.width * scale;
  // Limits the width so that the height fits too.
  image.style.setProperty("--ratio", thumbnail.width / thumbnail.height);
  set($("viewer-name"), nameOf(thumbnail.source));
  set($("viewer-facts"), `${pixels(thumbnail)} pixels · ${fileSize(thumbnail.bytes)} · operation ${thumbnail.operation}`);
}

// Goes to the next newer thumbnail (1) or the next older one (-1), if there is one.
function move(direction) {
  const shown = [...pictures].filter(([, { item }]) => item.isConnected).map(([id]) => id);
  const [next] = shown.filter((id) => (id - openedID) * direction > 0).sort((a, b) => (a - b) * direction);
  if (next !== undefined) showInViewer(next);
}

$("newer").addEventListener("click", () => move(1));
$("older").addEventListener("click", () => move(-1));
$("close").addEventListener("click", () => $("viewer").close());
$("viewer").addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") move(1);
  if (event.key === "ArrowRight") move(-1);
});
// A click beside the picture.
$("viewer").addEventListener("click", (event) => { if (event.target === $("viewer")) $("viewer").close(); });

// The focus goes to the thumbnail that was shown last, or to the last visible one: a narrow screen shows fewer.
$("viewer").addEventListener("close", () => {
  const buttons = [...$("thumbnails").querySelectorAll("button")].filter((button) => button.offsetParent);
  const last = pictures.get(openedID)?.item.firstChild;
  (buttons.includes(last) ? last : buttons.at(-1))?.focus();
});
