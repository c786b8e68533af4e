// Paths of the data. A path is a string; one that is not valid UTF-8 is an object: `text`, with the wrong bytes replaced,
// and `bytes`, the path in base64.

const pathText = (path) => visible(path.text ?? path);

// The bytes of a path, percent-encoded except for its slashes: an address that no character of a name can end or leave.
function pathAddress(path) {
  if (typeof path === "string") return encodeURIComponent(path).replaceAll("%2F", "/");
  return atob(path.bytes).replace(/[^\w.~/-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

const addressIn = (folder, path) => `${pathAddress(folder)}/${pathAddress(path)}`;

// The folder of a path or of an address; "" if it has none.
const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const fileOf = (path) => path.slice(path.lastIndexOf("/") + 1);
