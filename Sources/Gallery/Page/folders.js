// The list of folders, beside the pictures on wide screens, and as a menu on narrow ones.

// Every folder that has pictures or divides into others, with the number of pictures in it and below it. A folder that only
// leads to one other is left out, and the name of that one begins with it.
function folderList(groups) {
  const all = new Map();
  for (const { key, text, pictures } of groups) {
    const [keys, texts] = [key.split("/"), text.split("/")];
    let child = null;
    for (let depth = keys.length; depth > 0; depth -= 1) {
      const folder = keys.slice(0, depth).join("/");
      if (folder === "") break;
      if (!all.has(folder)) {
        all.set(folder, { key: folder, text: texts.slice(0, depth).join("/"), count: 0, own: 0, children: new Set() });
      }
      const node = all.get(folder);
      node.count += countOf(pictures);
      if (child === null) node.own += pictures.length;
      else node.children.add(child);
      child = folder;
    }
  }
  const kept = [...all.values()].filter(({ own, children }) => own > 0 || children.size > 1)
    .sort((a, b) => compareFolders(a.text, b.text));
  const above = [];
  return kept.map((node) => {
    while (above.length > 0 && !isWithin(node.key, above.at(-1).key)) above.pop();
    const label = above.length > 0 ? node.text.slice(above.at(-1).text.length + 1) : node.text;
    const entry = { ...node, label, depth: above.length };
    above.push(node);
    return entry;
  });
}

function showFolders(groups, count) {
  const list = folderList(groups);
  document.body.classList.toggle("has-folders", groups.length > 1);
  if (groups.length <= 1) return;
  const all = { key: "", text: "", label: "All folders", depth: 0, count };
  $("folders").replaceChildren(...[all, ...list].map(({ key, text, label, depth, count: inside }) => {
    const link = make("a", "folder", label);
    link.href = hashOf({ folder: key });
    link.title = text;
    link.dataset.key = key;
    link.dataset.count = number(inside);
    link.style.setProperty("--depth", depth);
    return link;
  }));
  $("folder").replaceChildren(...[all, ...list].map(({ key, label, depth, count: inside }) =>
    new Option(`${"\u2003".repeat(depth)}${label} (${number(inside)})`, key)));
}

function markFolder(key) {
  $("folder").value = key;
  for (const link of $("folders").children) link.ariaCurrent = link.dataset.key === key ? "page" : null;
}

$("folder").addEventListener("change", () => go({ ...state, folder: $("folder").value }));
