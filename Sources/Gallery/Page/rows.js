// The places of pictures in rows of the same width, in whole pixels. Pictures keep their shapes.

const GAP = 6;                  // pixels between pictures
const HEADING = 46;             // pixels of a folder's heading, with a space for the focus ring below it
const AFTER = 22;               // pixels below a folder

// The last row of a folder fills the width if that makes it only so much higher than the wanted height.
const STRETCH = 1.15;

const MISSING_RATIO = 1.5;
// Pictures that are longer are cropped in the grid, so that a panorama does not take its row's height.
const LEAST_RATIO = 0.5;
const MOST_RATIO = 4;

function ratioOf(picture) {
  if (picture.ratio) return picture.ratio;
  const largest = picture.reason ? null : gridThumbnails(picture).at(-1);
  picture.ratio = largest
    ? Math.min(MOST_RATIO, Math.max(LEAST_RATIO, largest.width / largest.height)) : MISSING_RATIO;
  return picture.ratio;
}

// Closes a row where its height is nearest to the wanted one.
function rowsOf(pictures, width, wanted) {
  const rows = [];
  let [row, sum] = [[], 0];
  const height = (count, ratios) => (width - GAP * (count - 1)) / ratios;
  const close = (isLast) => {
    const full = height(row.length, sum);
    const isFull = !isLast || full <= wanted * STRETCH;
    rows.push(placed(row, width, isFull ? full : wanted, isFull));
    [row, sum] = [[], 0];
  };
  for (const picture of pictures) {
    const ratio = ratioOf(picture);
    const before = row.length > 0 ? height(row.length, sum) : Infinity;
    if (height(row.length + 1, sum + ratio) < wanted && before / wanted < wanted / height(row.length + 1, sum + ratio)) {
      close(false);
    }
    row.push(picture);
    sum += ratio;
    if (height(row.length, sum) <= wanted) close(false);
  }
  if (row.length > 0) close(true);
  return rows;
}

// A row with the left edge and the width of each picture. The last one of a full row ends at the right edge.
function placed(pictures, width, exact, isFull) {
  const height = Math.max(1, Math.round(exact));
  let left = 0;
  const tiles = pictures.map((picture, index) => {
    const end = isFull && index === pictures.length - 1 ? width : Math.round(left + exact * ratioOf(picture));
    const tile = { picture, left, width: Math.max(1, end - left) };
    left = end + GAP;
    return tile;
  });
  return { height, tiles };
}

// The sections, one for each group, with their places on the page and those of their rows.
function sectionsOf(groups, width, wanted) {
  let top = 0;
  return groups.map((group) => {
    const rows = rowsOf(group.pictures, width, wanted);
    const hasHeading = groups.length > 1 || group.key !== "";
    const section = { group, top, head: hasHeading ? HEADING : 0, rows };
    top += section.head;
    for (const row of rows) {
      row.top = top;
      row.section = section;
      top += row.height + GAP;
    }
    top += AFTER - GAP;
    section.height = top - section.top;
    return section;
  });
}
