// The pictures of the data, in the order in which they are shown, and the choice of some of them.

const LEAST_SIDE = 150;         // pixels: a thumbnail with a shorter side is too coarse for the grid

// The media types of thumbnails, in the order in which a browser should take them: smaller files first. Every browser shows
// the last two.
const TYPES = ["image/avif", "image/webp", "image/jpeg", "image/png"];

const collator = new Intl.Collator("en", { numeric: true });

// Folders in the order of a tree: a folder comes before those in it, and `2 a` before `10 b`.
function compareFolders(left, right) {
  const [lefts, rights] = [left.split("/"), right.split("/")];
  for (let place = 0; place < Math.min(lefts.length, rights.length); place += 1) {
    const order = collator.compare(lefts[place], rights[place]);
    if (order !== 0) return order;
  }
  return lefts.length - rights.length;
}

// When a picture was taken, as the clock of its camera showed it: the hours between the clocks of two cameras are often not
// noted. What has no date comes last.
const clockOf = ({ taken }) => taken?.slice(0, "2024-07-14T18:03:12".length) ?? "\uffff";

// Pictures of one folder, by date and then by name.
function comparePictures(a, b) {
  const [first, second] = [clockOf(a), clockOf(b)];
  if (first !== second) return first < second ? -1 : 1;
  return collator.compare(a.name, b.name);
}

// How many of some pictures are there; if all are missing, how many these are.
const countOf = (pictures) => pictures.filter(({ reason }) => !reason).length || pictures.length;

// A picture of the data, or a missing one, which has a reason. Its key is the address of its path.
function newPicture(entry) {
  const text = pathText(entry.source);
  const key = pathAddress(entry.source);
  return { ...entry, text, name: fileOf(text), key, folder: folderOf(key), folderText: folderOf(text) };
}

// All pictures in groups, one for each folder.
function groupsOf(entries) {
  const groups = new Map();
  for (const picture of entries.map(newPicture)) {
    const group = groups.get(picture.folder);
    if (group) group.pictures.push(picture);
    else groups.set(picture.folder, { key: picture.folder, text: picture.folderText, pictures: [picture] });
  }
  for (const { pictures } of groups.values()) pictures.sort(comparePictures);
  return [...groups.values()].sort((a, b) => compareFolders(a.text, b.text));
}

// Letters that are no others with an accent, and what people type for them.
const PLAIN = { "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t",
  "ı": "i" };

// Without accents and capitals, and with the plain letters of special forms, such as `fi` for a ligature.
const searchable = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
  .replace(/[ßæœøłđðþħŧı]/gu, (letter) => PLAIN[letter]);

const isWithin = (folder, key) => key === "" || folder === key || folder.startsWith(`${key}/`);

// The groups with the pictures that are in a folder, have all words in their paths and, if wanted, are missing.
function chosen(groups, { folder, search, missing }) {
  const words = searchable(search).split(/\s+/).filter(Boolean);
  const isWanted = (picture) => {
    if (missing && !picture.reason) return false;
    if (words.length === 0) return true;
    picture.searchable ??= searchable(picture.text);
    return words.every((word) => picture.searchable.includes(word));
  };
  return groups.filter(({ key }) => isWithin(key, folder))
    .map((group) => ({ ...group, pictures: group.pictures.filter(isWanted) }))
    .filter(({ pictures }) => pictures.length > 0);
}

// The thumbnails of a picture, from small to large.
function thumbnailsOf(picture) {
  return picture.thumbnails.flatMap((thumbnail, index) => {
    if (!thumbnail) return [];
    const [width, height] = thumbnail;
    return [{ index, width, height, type: window.gallery.sizes[index].type }];
  }).sort((a, b) => a.width * a.height - b.width * b.height);
}

function thumbnailAddress(picture, index) {
  const path = picture.thumbnails[index][2] ?? picture.source;
  return addressIn(window.gallery.sizes[index].folder, path);
}

// Whether two thumbnails, from small to large, show the same part of the picture, except for rounding.
const haveOneShape = (small, large) => Math.abs(small.height - small.width * large.height / large.width) <= 1
  || Math.abs(small.width - small.height * large.width / large.height) <= 1;

// The thumbnails for the grid: the smallest that is large enough, and all others of its shape. If it was cropped, the grid
// shows cropped ones.
function gridThumbnails(picture) {
  if (picture.forGrid) return picture.forGrid;
  const all = thumbnailsOf(picture);
  const small = all.find(({ width, height }) => Math.min(width, height) >= LEAST_SIDE) ?? all.at(-1);
  picture.forGrid = all.filter((other) =>
    other.width < small.width ? haveOneShape(other, small) : haveOneShape(small, other));
  return picture.forGrid;
}

// The thumbnails for the viewer: the largest and all others of its shape.
function viewerThumbnails(picture) {
  const all = thumbnailsOf(picture);
  return all.filter((other) => haveOneShape(other, all.at(-1)));
}

// An image in an element that offers other types of it.
function newImage(picture) {
  const image = make("img");
  image.alt = picture.name;
  image.draggable = false;
  make("picture").append(image);
  return image;
}

// Lets the browser choose among thumbnails: by type, by a width on the page, in CSS pixels, and by the density of the screen.
function setSources(image, picture, thumbnails, width) {
  const holder = image.parentElement;
  const sizes = `${Math.ceil(width)}px`;
  const setSizes = (element) => { if (element.sizes !== sizes) element.sizes = sizes; };
  if (image.src) {
    [...holder.children].forEach(setSizes);
    return;
  }
  const types = [...TYPES, undefined].filter((type) => thumbnails.some((thumbnail) => thumbnail.type === type));
  for (const type of types) {
    const ofType = thumbnails.filter((thumbnail) => thumbnail.type === type);
    const element = type === types.at(-1) ? image : make("source");
    setSizes(element);
    element.srcset = ofType.map((thumbnail) =>
      `${thumbnailAddress(picture, thumbnail.index)} ${thumbnail.width}w`).join(", ");
    if (element === image) image.src = thumbnailAddress(picture, ofType.at(-1).index);
    else {
      element.type = type;
      image.before(element);
    }
  }
}

const originalOf = (picture) => {
  if (picture.original) return pathAddress(picture.original);
  return window.gallery.originals === undefined ? null : addressIn(window.gallery.originals, picture.source);
};
