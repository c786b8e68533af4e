// Reads the data and shows the gallery.

const VERSION = 1;              // of the data

function showTitle({ title }) {
  set($("title"), pathText(title));
  document.title = pathText(title);
}

function start() {
  const { gallery } = window;
  $("page").hidden = false;
  if (!gallery) return showNotice("The pictures are not listed: page/data.js is missing or damaged.");
  if (gallery.version !== VERSION) return showNotice("This gallery needs the page of another version of thumbjob.");
  const missing = gallery.missing ?? [];
  groups = groupsOf([...gallery.pictures, ...missing]);
  showTitle(gallery);
  showFolders(groups, gallery.pictures.length);
  $("missing").hidden = missing.length === 0;
  set($("missing"), `${number(missing.length)} missing`);
  // The browser cannot know how high the page will be.
  history.scrollRestoration = "manual";
  show(stateOf(location.hash), history.state?.top);
  if (viewed) reveal(viewed);
}

$("search").addEventListener("input", () => goSoon({ ...state, search: $("search").value.trim() }));
$("missing").addEventListener("click", () => go({ ...state, missing: !state.missing }));
$("show-all").addEventListener("click", () => go(NOTHING));

start();
