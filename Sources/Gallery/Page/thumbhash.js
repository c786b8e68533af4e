// Draws a ThumbHash: a picture of at most 32 × 32 pixels as the first terms of a cosine transform, in about 25 bytes.
// The format is described at https://evanw.github.io/thumbhash/: luminance L, yellow against blue P, red against green Q,
// and perhaps opacity A, each with its mean (DC), the range of its other terms, and those terms in four bits each.

const HASH_SIDE = 32;           // pixels of the longer side

// The fields of a hash, from base64.
function readHash(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const head = bytes[0] | bytes[1] << 8 | bytes[2] << 16;
  const more = bytes[3] | bytes[4] << 8;
  const hasAlpha = Boolean(head >> 23);
  const isLandscape = Boolean(more >> 15);
  // The longer side has all terms; the header counts those of the shorter side.
  const [long, short] = [hasAlpha ? 5 : 7, more & 7];
  const [across, down] = isLandscape ? [long, short] : [short, long];
  let place = hasAlpha ? 12 : 10;  // in half bytes
  const channel = (mean, range, columns, rows) => {
    const terms = [];
    for (let row = 0; row < rows; row += 1) {
      // Only the terms below the diagonal, without the mean.
      for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column += 1) {
        const half = bytes[place >> 1] >> (place & 1) * 4 & 15;
        terms.push({ column, row, value: (half / 7.5 - 1) * range * 2 });
        place += 1;
      }
    }
    return { mean, terms, columns };
  };
  // Saved colours are reduced by the rounding to four bits; a quarter more makes up for it.
  return {
    ratio: across / down,
    l: channel((head & 63) / 63, (head >> 18 & 31) / 31, Math.max(3, across), Math.max(3, down)),
    p: channel((head >> 6 & 63) / 31.5 - 1, (more >> 3 & 63) / 63 * 1.25, 3, 3),
    q: channel((head >> 12 & 63) / 31.5 - 1, (more >> 9 & 63) / 63 * 1.25, 3, 3),
    a: hasAlpha ? channel((bytes[5] & 15) / 15, (bytes[5] >> 4) / 15, 5, 5) : { mean: 1, terms: [], columns: 0 },
  };
}

function hashCanvas(text) {
  const hash = readHash(text);
  const canvas = make("canvas");
  canvas.width = Math.round(HASH_SIDE * Math.min(1, hash.ratio));
  canvas.height = Math.round(HASH_SIDE / Math.max(1, hash.ratio));
  const { width, height } = canvas;
  const cosines = (count) => Array.from({ length: 7 },
    (_, term) => Float32Array.from({ length: count }, (_unused, at) => Math.cos(Math.PI / count * (at + 0.5) * term)));
  const [across, down] = [cosines(width), cosines(height)];
  const image = new ImageData(width, height);
  const channels = [hash.l, hash.p, hash.q, hash.a];
  const sums = channels.map(() => new Float32Array(7));
  const valueAt = (channel, x) => {
    const { mean, columns } = channels[channel];
    let sum = mean;
    for (let column = 0; column < columns; column += 1) sum += sums[channel][column] * across[column][x];
    return sum;
  };
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    // The terms of a column are added once for the whole line.
    channels.forEach(({ terms }, channel) => {
      sums[channel].fill(0);
      for (const { column, row, value } of terms) sums[channel][column] += value * down[row][y];
    });
    for (let x = 0; x < width; x += 1) {
      const [l, p, q] = [valueAt(0, x), valueAt(1, x), valueAt(2, x)];
      const blue = l - 2 / 3 * p;
      const red = (3 * l - blue + q) / 2;
      // The array rounds and clamps.
      image.data[at] = red * 255;
      image.data[at + 1] = (red - q) * 255;
      image.data[at + 2] = blue * 255;
      image.data[at + 3] = valueAt(3, x) * 255;
      at += 4;
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
