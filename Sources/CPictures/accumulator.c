#include "accumulator.h"

#include <stdlib.h>
#include <string.h>

/// Whether a plane fits its component and lies in memory.
static bool is_sound(const cdecoding_plane *plane, size_t memory_size) {
  if (plane->width == 0 || plane->width > CDECODING_MAX_SIDE || plane->height == 0 || plane->height > CDECODING_MAX_SIDE ||
      plane->shrink_x == 0 || plane->shrink_x > CDECODING_MAX_SHRINK || plane->shrink_y == 0 ||
      plane->shrink_y > CDECODING_MAX_SHRINK || plane->low >= plane->high) {
    return false;
  }
  if (plane->columns != (plane->width - 1) / plane->shrink_x + 1 || plane->rows != (plane->height - 1) / plane->shrink_y + 1) {
    return false;
  }
  uint64_t samples = (uint64_t)plane->columns * plane->rows;
  return samples <= memory_size && plane->offset <= memory_size - samples;
}

static size_t sample_count(const cdecoding_plane *plane) { return (size_t)plane->columns * plane->rows; }

/// The plane of alpha.
static uint8_t *alpha_plane(const accumulator *sums) { return sums->memory + sums->request->alpha_offset; }

/// Fills the planes with what they show where no sample is added.
static void clear_planes(const accumulator *sums) {
  for (uint32_t index = 0; index < sums->request->plane_count; index++) {
    const cdecoding_plane *plane = &sums->request->planes[index];
    memset(sums->memory + plane->offset, sums->has_alpha ? sums->request->background[index] : 0, sample_count(plane));
  }
  if (sums->request->keeps_alpha) memset(alpha_plane(sums), sums->has_alpha ? 0 : 255, sample_count(&sums->request->planes[0]));
}

cdecoding_status accumulator_init(
    accumulator *sums, const cdecoding_request *request, bool has_alpha, uint8_t *memory, size_t memory_size) {
  *sums = (accumulator){.request = request, .memory = memory, .has_alpha = has_alpha};
  if (request->plane_count == 0 || request->plane_count > CDECODING_MAX_COMPONENTS) return CDECODING_BAD_CALL;
  const cdecoding_plane *first = &request->planes[0];
  sums->is_direct = sums->are_alike = true;
  for (uint32_t index = 0; index < request->plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    if (!is_sound(plane, memory_size)) return CDECODING_BAD_CALL;
    if (plane->width != first->width || plane->height != first->height || plane->shrink_x != first->shrink_x ||
        plane->shrink_y != first->shrink_y) {
      sums->are_alike = false;
    }
    if (plane->shrink_x != 1 || plane->shrink_y != 1) sums->is_direct = false;
    sums->bits[index] = 8;
  }
  if (has_alpha && !sums->are_alike) return CDECODING_BAD_CALL;
  if (request->keeps_alpha &&
      (request->alpha_offset > memory_size || sample_count(first) > memory_size - request->alpha_offset)) {
    return CDECODING_BAD_CALL;
  }
  if (request->is_overlay) sums->is_direct = false;
  if (sums->is_direct) {
    clear_planes(sums);
    return CDECODING_OK;
  }
  for (uint32_t index = 0; index < request->plane_count; index++) {
    sums->sums[index] = calloc(sample_count(&request->planes[index]), sizeof(uint32_t));
    if (!sums->sums[index]) return CDECODING_NO_MEMORY;
  }
  if (has_alpha) {
    sums->alpha = calloc(sample_count(first), sizeof(uint32_t));
    if (!sums->alpha) return CDECODING_NO_MEMORY;
  }
  return CDECODING_OK;
}

bool accumulator_prepare(accumulator *sums, decoding *call, bool has_alpha) {
  cdecoding_status status = accumulator_init(sums, call->request, has_alpha, call->memory, call->memory_size);
  if (status != CDECODING_OK) decoding_fail(call, status, "the sums of the picture cannot be kept");
  return status == CDECODING_OK;
}

/// The part of a run of samples that is inside a component.
typedef struct run {
  size_t skipped;  ///< samples before the first one inside
  size_t count;
  unsigned spacing;  ///< samples are 2 to this power apart
  uint32_t column;   ///< the plane's column of the first sample
  uint32_t left;     ///< how many of the component's samples that column still has, from the first one on
  size_t line;       ///< the index of the first sample of the plane's row
} run;

static run clip(const cdecoding_plane *plane, int64_t x, int64_t y, unsigned spacing, size_t count) {
  run none = {0};
  if (y < 0 || y >= plane->height || x >= plane->width || count > CDECODING_MAX_SIDE || spacing > 3) return none;
  if (x < -(int64_t)CDECODING_MAX_SIDE) return none;
  size_t before = (1u << spacing) - 1;
  size_t skipped = x < 0 ? ((size_t)-x + before) >> spacing : 0;
  uint64_t start = (uint64_t)(x + (int64_t)(skipped << spacing));
  if (skipped >= count || start >= plane->width) return none;
  size_t inside = count - skipped;
  size_t room = (size_t)(plane->width - start + before) >> spacing;
  return (run){
      .skipped = skipped,
      .count = inside < room ? inside : room,
      .spacing = spacing,
      .column = (uint32_t)start / plane->shrink_x,
      .left = plane->shrink_x - (uint32_t)start % plane->shrink_x,
      .line = (size_t)((uint32_t)y / plane->shrink_y) * plane->columns,
  };
}

/// How many samples of the rest of a run the present column takes.
static inline size_t taken_by_column(const run *part) {
  size_t taken = (part->left + (1u << part->spacing) - 1) >> part->spacing;
  return taken < part->count ? taken : part->count;
}

/// Goes on to the column of the sample after `taken` ones.
static inline void move_on(run *part, uint32_t shrink, size_t taken) {
  part->count -= taken;
  size_t distance = taken << part->spacing;
  while (distance >= part->left) {
    distance -= part->left;
    part->left = shrink;
    part->column++;
  }
  part->left -= (uint32_t)distance;
}

/// Adds up one component of samples, which are `step` values apart in memory.
static void add_8(uint32_t *line, run part, uint32_t shrink, const uint8_t *samples, size_t step) {
  while (part.count > 0) {
    size_t taken = taken_by_column(&part);
    uint32_t sum = 0;
    for (size_t index = 0; index < taken; index++) sum += samples[index * step];
    line[part.column] += sum;
    samples += taken * step;
    move_on(&part, shrink, taken);
  }
}

/// Adds up three components at once, which are next to each other.
static void add_rgb(uint32_t *const lines[3], run part, uint32_t shrink, const uint8_t *samples) {
  while (part.count > 0) {
    size_t taken = taken_by_column(&part);
    uint32_t red = 0, green = 0, blue = 0;
    for (size_t index = 0; index < taken; index++, samples += 3) {
      red += samples[0];
      green += samples[1];
      blue += samples[2];
    }
    lines[0][part.column] += red;
    lines[1][part.column] += green;
    lines[2][part.column] += blue;
    move_on(&part, shrink, taken);
  }
}

/// Adds up three components times their alpha, and alpha, at once, which are next to each other.
static void add_rgba(uint32_t *const lines[4], run part, uint32_t shrink, const uint8_t *samples) {
  while (part.count > 0) {
    size_t taken = taken_by_column(&part);
    uint32_t red = 0, green = 0, blue = 0, opacity = 0;
    for (size_t index = 0; index < taken; index++, samples += 4) {
      uint32_t alpha = samples[3];
      red += samples[0] * alpha;
      green += samples[1] * alpha;
      blue += samples[2] * alpha;
      opacity += alpha;
    }
    lines[0][part.column] += red;
    lines[1][part.column] += green;
    lines[2][part.column] += blue;
    lines[3][part.column] += opacity;
    move_on(&part, shrink, taken);
  }
}

/// Adds up samples times their alpha; alphas are `alpha_step` apart.
static void add_weighted(
    uint32_t *line, run part, uint32_t shrink, const uint8_t *samples, size_t step, const uint8_t *alpha,
    size_t alpha_step) {
  while (part.count > 0) {
    size_t taken = taken_by_column(&part);
    uint32_t sum = 0;
    for (size_t index = 0; index < taken; index++) sum += (uint32_t)samples[index * step] * alpha[index * alpha_step];
    line[part.column] += sum;
    samples += taken * step;
    alpha += taken * alpha_step;
    move_on(&part, shrink, taken);
  }
}

static void add_16(uint32_t *line, run part, uint32_t shrink, const uint16_t *samples, uint16_t mask) {
  while (part.count > 0) {
    size_t taken = taken_by_column(&part);
    uint32_t sum = 0;
    for (size_t index = 0; index < taken; index++) sum += samples[index] & mask;
    line[part.column] += sum;
    samples += taken;
    move_on(&part, shrink, taken);
  }
}

static uint8_t limited(float value) { return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f); }

/// The value that a plane shows: `sample` from 0 to 255, times `opacity`, and the background with the rest.
static inline uint8_t shown(const accumulator *sums, unsigned index, float sample, float opacity) {
  const cdecoding_plane *plane = &sums->request->planes[index];
  float range = 255.0f / (float)(plane->high - plane->low);
  float background = sums->request->background[index];
  return limited((sample - (float)plane->low * opacity) * range + background * (1.0f - opacity));
}

/// Writes samples of 8 bits, which are `step` values apart in memory, to a plane.
static void put_8(
    accumulator *sums, unsigned index, run part, const uint8_t *samples, size_t step, const uint8_t *alpha,
    size_t alpha_step) {
  const cdecoding_plane *plane = &sums->request->planes[index];
  uint8_t *target = sums->memory + plane->offset + part.line + part.column;
  bool is_plain = !sums->has_alpha && plane->low == 0 && plane->high == 255;
  for (size_t place = 0; place < part.count; place++) {
    uint8_t sample = samples[place * step];
    float opacity = sums->has_alpha ? (float)alpha[place * alpha_step] / 255.0f : 1.0f;
    target[place << part.spacing] = is_plain ? sample : shown(sums, index, (float)sample * opacity, opacity);
  }
  if (index > 0 || !sums->request->keeps_alpha || !sums->has_alpha) return;
  uint8_t *opacities = alpha_plane(sums) + part.line + part.column;
  for (size_t place = 0; place < part.count; place++) opacities[place << part.spacing] = alpha[place * alpha_step];
}

static void put_16(accumulator *sums, unsigned index, run part, const uint16_t *samples, unsigned bits) {
  const cdecoding_plane *plane = &sums->request->planes[index];
  uint8_t *target = sums->memory + plane->offset + part.line + part.column;
  uint16_t mask = (uint16_t)((1u << bits) - 1);
  float unit = 255.0f / (float)mask;
  for (size_t place = 0; place < part.count; place++) {
    target[place] = shown(sums, index, (float)(samples[place] & mask) * unit, 1.0f);
  }
}

void accumulator_add(
    accumulator *sums, int64_t x, int64_t y, size_t count, const uint8_t *samples, sample_layout layout) {
  accumulator_add_spaced(sums, x, y, 0, count, samples, layout);
}

void accumulator_add_spaced(
    accumulator *sums, int64_t x, int64_t y, unsigned spacing, size_t count, const uint8_t *samples, sample_layout layout) {
  static const struct {
    unsigned step, colors;
  } shapes[] = {[SAMPLES_GREY] = {1, 1}, [SAMPLES_GREY_ALPHA] = {2, 1}, [SAMPLES_RGB] = {3, 3}, [SAMPLES_RGBA] = {4, 3},
                [SAMPLES_CMYK] = {4, 4}};
  unsigned step = shapes[layout].step;
  unsigned colors = shapes[layout].colors;
  bool has_alpha = layout == SAMPLES_GREY_ALPHA || layout == SAMPLES_RGBA;
  uint32_t plane_count = sums->request->plane_count;
  if (!sums->are_alike || (colors != 1 && colors != plane_count) || (has_alpha && !sums->has_alpha)) return;
  const cdecoding_plane *first = &sums->request->planes[0];
  run part = clip(first, x, y, spacing, count);
  if (part.count == 0) return;
  const uint8_t *inside = samples + part.skipped * step;
  static const uint8_t opaque = 255;
  const uint8_t *alpha = has_alpha ? inside + colors : &opaque;
  unsigned alpha_step = has_alpha ? step : 0;
  if (sums->is_direct) {
    for (uint32_t index = 0; index < plane_count; index++) {
      put_8(sums, index, part, inside + (colors == 1 ? 0 : index), step, alpha, alpha_step);
    }
    return;
  }
  if (layout == SAMPLES_RGB && !sums->has_alpha) {
    uint32_t *const lines[3] = {sums->sums[0] + part.line, sums->sums[1] + part.line, sums->sums[2] + part.line};
    add_rgb(lines, part, first->shrink_x, inside);
    return;
  }
  if (layout == SAMPLES_RGBA) {
    uint32_t *const lines[4] = {
        sums->sums[0] + part.line, sums->sums[1] + part.line, sums->sums[2] + part.line, sums->alpha + part.line};
    add_rgba(lines, part, first->shrink_x, inside);
    return;
  }
  if (sums->has_alpha) add_8(sums->alpha + part.line, part, first->shrink_x, alpha, alpha_step);
  for (uint32_t index = 0; index < plane_count; index++) {
    const uint8_t *component = inside + (colors == 1 ? 0 : index);
    uint32_t *line = sums->sums[index] + part.line;
    if (sums->has_alpha) {
      add_weighted(line, part, first->shrink_x, component, step, alpha, alpha_step);
    } else {
      add_8(line, part, first->shrink_x, component, step);
    }
  }
}

void accumulator_add_component(
    accumulator *sums, unsigned index, int64_t x, int64_t y, size_t count, const void *samples, unsigned bits,
    const uint8_t *alpha) {
  if (index >= sums->request->plane_count || bits < 8 || bits > 16 || (sums->has_alpha && bits != 8)) return;
  const cdecoding_plane *plane = &sums->request->planes[index];
  run part = clip(plane, x, y, 0, count);
  if (part.count == 0) return;
  static const uint8_t opaque = 255;
  const uint8_t *weights = alpha ? alpha + part.skipped : &opaque;
  unsigned weight_step = alpha ? 1 : 0;
  if (sums->is_direct) {
    if (bits > 8) {
      put_16(sums, index, part, (const uint16_t *)samples + part.skipped, bits);
    } else {
      put_8(sums, index, part, (const uint8_t *)samples + part.skipped, 1, weights, weight_step);
    }
    return;
  }
  uint32_t *line = sums->sums[index] + part.line;
  sums->bits[index] = (uint8_t)bits;
  if (bits > 8) {
    add_16(line, part, plane->shrink_x, (const uint16_t *)samples + part.skipped, (uint16_t)((1u << bits) - 1));
    return;
  }
  const uint8_t *inside = (const uint8_t *)samples + part.skipped;
  if (!sums->has_alpha) {
    add_8(line, part, plane->shrink_x, inside, 1);
    return;
  }
  add_weighted(line, part, plane->shrink_x, inside, 1, weights, weight_step);
  if (index == 0) add_8(sums->alpha + part.line, part, plane->shrink_x, weights, weight_step);
}

/// How many samples of the component a plane's sample covers along one axis: fewer at the far edge.
static uint32_t covered(uint32_t index, uint32_t shrink, uint32_t length) {
  uint32_t start = index * shrink;
  return length - start < shrink ? length - start : shrink;
}

void accumulator_finish(accumulator *sums) {
  if (sums->is_direct) return;
  const cdecoding_request *request = sums->request;
  for (uint32_t index = 0; index < request->plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    uint8_t *target = sums->memory + plane->offset;
    const uint32_t *sum = sums->sums[index];
    // Turns a sum of samples into one of 8-bit values.
    float unit = 255.0f / (float)((1u << sums->bits[index]) - 1) / (sums->has_alpha ? 255.0f : 1.0f);
    size_t place = 0;
    for (uint32_t row = 0; row < plane->rows; row++) {
      uint32_t down = covered(row, plane->shrink_y, plane->height);
      for (uint32_t column = 0; column < plane->columns; column++, place++) {
        float share = 1.0f / (float)(down * covered(column, plane->shrink_x, plane->width));
        float opacity = sums->has_alpha ? (float)sums->alpha[place] * share / 255.0f : 1.0f;
        target[place] = shown(sums, index, (float)sum[place] * share * unit, opacity);
        if (index == 0 && request->keeps_alpha) alpha_plane(sums)[place] = limited(opacity * 255.0f);
      }
    }
  }
}

void accumulator_free(accumulator *sums) {
  for (unsigned index = 0; index < CDECODING_MAX_COMPONENTS; index++) free(sums->sums[index]);
  free(sums->alpha);
  *sums = (accumulator){0};
}
