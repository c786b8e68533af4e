// The latest thumbnails.

const THUMBNAILS = 24;          // shown on the page

const pictures = new Map();     // from id to element
let seenThumbnails = -1;
let isLoadingThumbnails = false;

async function loadThumbnails() {
  if (isLoadingThumbnails) return;
  isLoadingThumbnails = true;
  try {
    const { thumbnails } = await (await ask("thumbnails")).json();
    const latest = thumbnails.slice(0, THUMBNAILS);
    for (const thumbnail of latest) {
      if (!pictures.has(thumbnail.id)) pictures.set(thumbnail.id, await picture(thumbnail));
    }
    const wanted = new Set(latest.map((thumbnail) => thumbnail.id));
    for (const [id, item] of pictures) {
      if (wanted.has(id)) continue;
      URL.revokeObjectURL(item.firstChild.src);
      pictures.delete(id);
    }
    const items = latest.map((thumbnail) => pictures.get(thumbnail.id));
    if (items.length === 0) items.push(make("li", "empty", "None yet."));
    $("thumbnails").replaceChildren(...items);
  } catch {
    // the thumbnail or the connection is gone: the next status loads again
  } finally {
    isLoadingThumbnails = false;
  }
}

async function picture(thumbnail) {
  const item = make("li");
  const image = make("img");
  image.src = URL.createObjectURL(await (await ask(`thumbnails/${thumbnail.id}`)).blob());
  image.alt = `Thumbnail of ${thumbnail.source}`;
  const name = make("div", "name", thumbnail.source.split("/").pop());
  item.title = `${thumbnail.source} · ${thumbnail.width} × ${thumbnail.height} · ${bytes(thumbnail.bytes)}`;
  item.append(image, name);
  return item;
}
