#include "vp8l_transforms.h"

#include <string.h>

#define OPAQUE_BLACK 0xff000000u

// MARK: Prediction

// The names are those of the neighbours: left, top, top left, top right.

static inline uint32_t mean(uint32_t first, uint32_t second) {
  return (((first ^ second) & 0xfefefefeu) >> 1) + (first & second);
}

/// The components of a pixel.
typedef int16_t components __attribute__((vector_size(8)));
typedef uint8_t bytes __attribute__((vector_size(4)));

static inline components spread(uint32_t pixel) {
  bytes packed;
  memcpy(&packed, &pixel, sizeof packed);
  return __builtin_convertvector(packed, components);
}

/// Adds to a pixel what is predicted for it, with each component limited to 0 to 255. Returns the sum's components, which
/// stay in a vector register for the next pixel.
static inline components add_limited(uint32_t *pixel, components prediction) {
  const components least = {0}, most = {255, 255, 255, 255};
  prediction = __builtin_elementwise_min(__builtin_elementwise_max(prediction, least), most);
  bytes sum;
  memcpy(&sum, pixel, sizeof sum);
  sum += __builtin_convertvector(prediction, bytes);
  memcpy(pixel, &sum, sizeof sum);
  return __builtin_convertvector(sum, components);
}

/// Left or top, whichever is nearer to left + top - top left.
static inline uint32_t nearer(uint32_t left, uint32_t top, uint32_t top_left) {
  components corner = spread(top_left);
  components from_left = __builtin_elementwise_abs(spread(top) - corner);
  components from_top = __builtin_elementwise_abs(spread(left) - corner);
  components difference = from_left - from_top;
  return difference[0] + difference[1] + difference[2] + difference[3] < 0 ? left : top;
}

/// Adds left + top - top left.
static void add_gradients(uint32_t *row, const uint32_t *above, size_t count) {
  components left = spread(row[-1]);
  for (size_t x = 0; x < count; x++) {
    left = add_limited(&row[x], left + spread(above[x]) - spread(above[(ptrdiff_t)x - 1]));
  }
}

/// Adds the mean of left and top, and half of how much that differs from top left.
static void add_half_gradients(uint32_t *row, const uint32_t *above, size_t count) {
  components left = spread(row[-1]);
  for (size_t x = 0; x < count; x++) {
    components middle = (left + spread(above[x])) >> 1;
    left = add_limited(&row[x], middle + (middle - spread(above[(ptrdiff_t)x - 1])) / 2);
  }
}

/// Adds to `count` pixels what is predicted from those before them and above.
static void add_predictions(unsigned mode, uint32_t *row, const uint32_t *above, size_t count) {
#define FOR_EACH(prediction)                                                            \
  for (size_t x = 0; x < count; x++) {                                                  \
    uint32_t top = above[x], top_left = above[(ptrdiff_t)x - 1], top_right = above[x + 1]; \
    (void)left, (void)top, (void)top_left, (void)top_right;                             \
    row[x] = left = vp8l_sum(row[x], prediction);                                       \
  }                                                                                     \
  break
  uint32_t left = row[-1];
  switch (mode) {
    case 1: FOR_EACH(left);
    case 2: FOR_EACH(top);
    case 3: FOR_EACH(top_right);
    case 4: FOR_EACH(top_left);
    case 5: FOR_EACH(mean(mean(left, top_right), top));
    case 6: FOR_EACH(mean(left, top_left));
    case 7: FOR_EACH(mean(left, top));
    case 8: FOR_EACH(mean(top_left, top));
    case 9: FOR_EACH(mean(top, top_right));
    case 10: FOR_EACH(mean(mean(left, top_left), mean(top, top_right)));
    case 11: FOR_EACH(nearer(left, top, top_left));
    case 12: add_gradients(row, above, count); break;
    case 13: add_half_gradients(row, above, count); break;
    default: FOR_EACH(OPAQUE_BLACK);
  }
#undef FOR_EACH
}

static void undo_predictor(vp8l_transform *transform, uint32_t y, uint32_t *row) {
  uint32_t width = transform->width;
  uint32_t *above = transform->above;
  if (y == 0) {
    row[0] = vp8l_sum(row[0], OPAQUE_BLACK);
    add_predictions(1, row + 1, above + 1, width - 1);
  } else {
    row[0] = vp8l_sum(row[0], above[0]);
    // To the right of the last pixel above is the first one of this row.
    above[width] = row[0];
    const uint32_t *modes = transform->values + (size_t)(y >> transform->bits) * vp8l_blocks(width, transform->bits);
    for (uint32_t x = 1; x < width;) {
      uint32_t end = ((x >> transform->bits) + 1) << transform->bits;
      if (end > width) end = width;
      add_predictions(modes[x >> transform->bits] >> 8 & 15, row + x, above + x, end - x);
      x = end;
    }
  }
  memcpy(above, row, (size_t)width * sizeof *row);
}

// MARK: Colours

static inline int32_t scaled(uint32_t factor, uint32_t value) { return ((int8_t)factor * (int8_t)value) >> 5; }

static void undo_cross_color(const vp8l_transform *transform, uint32_t y, uint32_t *row) {
  uint32_t width = transform->width;
  const uint32_t *factors = transform->values + (size_t)(y >> transform->bits) * vp8l_blocks(width, transform->bits);
  for (uint32_t x = 0; x < width;) {
    uint32_t end = ((x >> transform->bits) + 1) << transform->bits;
    if (end > width) end = width;
    uint32_t factor = factors[x >> transform->bits];
    for (; x < end; x++) {
      uint32_t pixel = row[x], green = pixel >> 8;
      uint32_t red = ((pixel >> 16) + (uint32_t)scaled(factor, green)) & 255;
      uint32_t blue = pixel + (uint32_t)scaled(factor >> 8, green) + (uint32_t)scaled(factor >> 16, red);
      row[x] = (pixel & 0xff00ff00u) | red << 16 | (blue & 255);
    }
  }
}

static void undo_subtract_green(const vp8l_transform *transform, uint32_t *row) {
  for (uint32_t x = 0; x < transform->width; x++) {
    uint32_t green = row[x] >> 8 & 255;
    row[x] = vp8l_sum(row[x], green << 16 | green);
  }
}

static void undo_color_indexing(const vp8l_transform *transform, uint32_t *row) {
  unsigned bits = transform->bits, depth = 8u >> bits;
  uint32_t most = (1u << depth) - 1, inside = (1u << bits) - 1;
  // From the end, because a pixel with several indices becomes as many pixels.
  for (uint32_t x = transform->width; x-- > 0;) {
    uint32_t index = row[x >> bits] >> 8 & 255;
    row[x] = transform->values[index >> (x & inside) * depth & most];
  }
}

void vp8l_transform_undo(vp8l_transform *transform, uint32_t y, uint32_t *row) {
  switch (transform->kind) {
    case VP8L_PREDICTOR: undo_predictor(transform, y, row); break;
    case VP8L_CROSS_COLOR: undo_cross_color(transform, y, row); break;
    case VP8L_SUBTRACT_GREEN: undo_subtract_green(transform, row); break;
    case VP8L_COLOR_INDEXING: undo_color_indexing(transform, row); break;
  }
}
