// The keys of the grid: arrows, Home, End, and the keys for pages. Enter opens a picture because it is a link.

// The picture of a row that is nearest to a place from the left.
function nearest(row, middle) {
  const distance = ({ left, width }) => Math.abs(left + width / 2 - middle);
  return row.tiles.reduce((best, tile) => distance(tile) < distance(best) ? tile : best).picture;
}

// The picture that a key leads to.
function pictureAt(key, picture) {
  const { row, tile, index } = placeOf.get(picture);
  const middle = tile.left + tile.width / 2;
  const rowIndex = rows.indexOf(row);
  const inRow = (other) => nearest(rows[Math.max(0, Math.min(rows.length - 1, other))], middle);
  const page = innerHeight * 0.8;
  switch (key) {
    case "ArrowLeft": return order[Math.max(0, index - 1)];
    case "ArrowRight": return order[Math.min(order.length - 1, index + 1)];
    case "ArrowUp": return rowIndex > 0 ? inRow(rowIndex - 1) : picture;
    case "ArrowDown": return rowIndex < rows.length - 1 ? inRow(rowIndex + 1) : picture;
    case "Home": return order[0];
    case "End": return order.at(-1);
    case "PageUp": return inRow(Math.min(rowIndex - 1, firstBelow(rows, row.top - page)));
    case "PageDown": return inRow(Math.max(rowIndex + 1, firstBelow(rows, row.top + page)));
    default: return null;
  }
}

const hasModifier = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

grid.addEventListener("keydown", (event) => {
  if (hasModifier(event) || !current || !event.target.matches(".tile")) return;
  const next = pictureAt(event.key, current);
  if (!next) return;
  event.preventDefault();
  focusPicture(next);
});

grid.addEventListener("focusin", (event) => {
  const item = event.target.closest("li");
  for (const [picture, shown] of shownTiles) if (shown.item === item) current = picture;
});

$("search").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" || order.length === 0) return;
  event.preventDefault();
  focusPicture(order[0]);
});
