#ifdef THUMBJOB_FORMATS
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiff_page.h"

static uint8_t rounded(double value) { return value <= 0 ? 0 : value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5); }

static double half_float(uint16_t bits) {
  unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31 && fraction != 0) return 0;
  double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
  return bits >> 15 ? -value : value;
}

/// The 8 bits of a sample that is wider, or not an unsigned integer. Of signed integers and of real numbers, 0 is black
/// and the largest, or 1, is white; what is below or above is no darker or lighter.
static uint8_t narrowed(const uint8_t *row, size_t index, unsigned bits, unsigned format) {
  if (bits == 16) {
    uint16_t value;
    memcpy(&value, row + index * 2, sizeof value);
    if (format == SAMPLEFORMAT_IEEEFP) return rounded(half_float(value));
    return value >> 15 ? 0 : (uint8_t)(value >> 7);
  }
  if (bits == 32) {
    uint32_t value;
    memcpy(&value, row + index * 4, sizeof value);
    if (format == SAMPLEFORMAT_INT) return value >> 31 ? 0 : (uint8_t)(value >> 23);
    if (format != SAMPLEFORMAT_IEEEFP) return (uint8_t)(value >> 24);
    float real;
    memcpy(&real, &value, sizeof real);
    return isnan(real) ? 0 : rounded((double)real);
  }
  uint64_t value;
  memcpy(&value, row + index * 8, sizeof value);
  if (format == SAMPLEFORMAT_INT) return value >> 63 ? 0 : (uint8_t)(value >> 55);
  if (format != SAMPLEFORMAT_IEEEFP) return (uint8_t)(value >> 56);
  double real;
  memcpy(&real, &value, sizeof real);
  return isnan(real) ? 0 : rounded(real);
}

/// A sample of 1 to 16 bits, packed without gaps from the highest bit on.
static unsigned packed(const uint8_t *row, size_t index, unsigned bits) {
  if (bits == 8) return row[index];
  if (bits == 16) {
    uint16_t value;
    memcpy(&value, row + index * 2, sizeof value);
    return value;
  }
  size_t start = index * bits;
  const uint8_t *byte = row + start / 8;
  unsigned offset = start % 8;
  if (offset + bits <= 8) return byte[0] >> (8 - offset - bits) & ((1u << bits) - 1);
  unsigned value = (unsigned)byte[0] << 16 | (unsigned)byte[1] << 8;
  if (offset + bits > 16) value |= byte[2];
  return value >> (24 - offset - bits) & ((1u << bits) - 1);
}

/// Converts one sample of `count` pixels to 8 bits.
static void unpack(
    const page *from, const uint8_t *const rows[], unsigned sample, size_t count, uint8_t *into, size_t into_step) {
  const uint8_t *row = rows[from->is_separate ? sample : 0];
  size_t first = from->is_separate ? 0 : sample, step = from->is_separate ? 1 : from->samples;
  unsigned bits = from->bits;
  bool is_integer = from->format == SAMPLEFORMAT_UINT || from->format == SAMPLEFORMAT_VOID;
  if (from->meaning == LAB) {
    // CIELab's a* and b* are signed. ICCLab's are not, and its L* of 16 bits is 100 at FF00.
    bool is_signed = from->photometric == PHOTOMETRIC_CIELAB && sample > 0;
    bool is_full = from->photometric == PHOTOMETRIC_CIELAB && sample == 0;
    for (size_t index = 0; index < count; index++) {
      unsigned value = packed(row, first + index * step, bits) ^ (is_signed ? 1u << (bits - 1) : 0);
      if (bits == 16) value = is_full ? (value * 255 + 32895) >> 16 : value > 65407 ? 255 : (value + 128) >> 8;
      into[index * into_step] = (uint8_t)value;
    }
  } else if (!is_integer || bits > 16) {
    for (size_t index = 0; index < count; index++) {
      into[index * into_step] = narrowed(row, first + index * step, bits, from->format);
    }
  } else if (bits == 8) {
    for (size_t index = 0; index < count; index++) into[index * into_step] = row[first + index * step];
  } else if (bits == 16) {
    for (size_t index = 0; index < count; index++) {
      uint16_t value;
      memcpy(&value, row + (first + index * step) * 2, sizeof value);
      into[index * into_step] = (uint8_t)((value * 255u + 32895) >> 16);
    }
  } else {
    unsigned most = (1u << bits) - 1;
    for (size_t index = 0; index < count; index++) {
      into[index * into_step] = (uint8_t)((packed(row, first + index * step, bits) * 255 + most / 2) / most);
    }
  }
}

/// Divides colours by the alpha with which they are multiplied.
static void divide_by_alpha(uint8_t *pixels, size_t count, unsigned colors) {
  for (size_t index = 0; index < count; index++, pixels += colors + 1) {
    unsigned alpha = pixels[colors];
    if (alpha == 255 || alpha == 0) continue;
    for (unsigned color = 0; color < colors; color++) {
      unsigned value = (pixels[color] * 255u + alpha / 2) / alpha;
      pixels[color] = value > 255 ? 255 : (uint8_t)value;
    }
  }
}

static sample_layout layout(unsigned colors, bool has_alpha) {
  if (colors == 1) return has_alpha ? SAMPLES_GREY_ALPHA : SAMPLES_GREY;
  if (colors == 3) return has_alpha ? SAMPLES_RGBA : SAMPLES_RGB;
  return SAMPLES_CMYK;
}

/// Adds pixels of the colour map.
static void add_indexed(page *from, uint32_t x, uint32_t y, size_t count, const uint8_t *const rows[]) {
  size_t step = from->is_separate ? 1 : from->samples;
  unsigned size = from->has_alpha ? 4 : 3;
  for (size_t index = 0; index < count; index++) {
    memcpy(from->pixels + index * size, from->map + 3 * packed(rows[0], index * step, from->bits), 3);
  }
  if (from->has_alpha) {
    unpack(from, rows, 1, count, from->pixels + 3, 4);
    if (from->is_associated) divide_by_alpha(from->pixels, count, 3);
  }
  accumulator_add(&from->sums, x, y, count, from->pixels, layout(3, from->has_alpha));
}

void tiff_page_add_row(page *from, uint32_t x, uint32_t y, size_t count, const uint8_t *const rows[]) {
  if (from->meaning == INDEX) {
    add_indexed(from, x, y, count, rows);
    return;
  }
  sample_layout shape = layout(from->colors, from->has_alpha);
  bool is_integer = from->format == SAMPLEFORMAT_UINT || from->format == SAMPLEFORMAT_VOID;
  bool is_ready = from->bits == 8 && is_integer && from->meaning != INVERTED && from->meaning != LAB;
  if (is_ready && !from->is_separate && from->used == from->samples && !from->is_associated) {
    accumulator_add(&from->sums, x, y, count, rows[0], shape);
    return;
  }
  if (is_ready && from->is_separate && !from->has_alpha) {
    for (unsigned sample = 0; sample < from->used; sample++) {
      accumulator_add_component(&from->sums, sample, x, y, count, rows[sample], 8, NULL);
    }
    return;
  }
  for (unsigned sample = 0; sample < from->used; sample++) {
    unpack(from, rows, sample, count, from->line + sample, from->used);
  }
  if (from->meaning == INVERTED) {
    for (size_t index = 0; index < count; index++) from->line[index * from->used] ^= 255;
  }
  if (from->is_associated) divide_by_alpha(from->line, count, from->colors);
  accumulator_add(&from->sums, x, y, count, from->line, shape);
}

void tiff_page_add_blocks(
    page *from, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const uint8_t *blocks, size_t size) {
  unsigned across = from->across, down = from->down;
  size_t block_size = across * down + 2;
  size_t count = (width + across - 1) / across;
  for (uint32_t top = 0; top < height; top += down, blocks += count * block_size, size -= count * block_size) {
    if (size < count * block_size) return;
    for (uint32_t row = 0; row < down && top + row < height; row++) {
      for (uint32_t column = 0; column < width; column++) {
        const uint8_t *block = blocks + column / across * block_size;
        uint8_t *pixel = from->line + (size_t)column * 3;
        pixel[0] = block[row * across + column % across];
        pixel[1] = block[across * down];
        pixel[2] = block[across * down + 1];
      }
      accumulator_add(&from->sums, x, (int64_t)y + top + row, width, from->line, SAMPLES_RGB);
    }
  }
}

// MARK: Planes

/// sRGB's samples for light.
static double encoded(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

/// CIE L*a*b*, relative to D50 as in ICC profiles, in sRGB's colours.
static void convert_lab(const uint8_t lab[3], uint8_t rgb[3]) {
  double lightness = lab[0] * 100.0 / 255, a = lab[1] - 128.0, b = lab[2] - 128.0;
  double y = (lightness + 16) / 116, x = y + a / 500, z = y - b / 200;
  const double limit = 6.0 / 29;
  double axes[3] = {x, y, z};
  static const double white[3] = {0.9642, 1, 0.8249};
  for (int axis = 0; axis < 3; axis++) {
    double t = axes[axis];
    axes[axis] = white[axis] * (t > limit ? t * t * t : 3 * limit * limit * (t - 4.0 / 29));
  }
  // From D50 to D65 (Bradford), then to sRGB's primaries.
  static const double matrix[3][3] = {
      {3.1338561, -1.6168667, -0.4906146}, {-0.9787684, 1.9161415, 0.0334540}, {0.0719453, -0.2289914, 1.4052427}};
  for (int color = 0; color < 3; color++) {
    const double *row = matrix[color];
    rgb[color] = rounded(encoded(row[0] * axes[0] + row[1] * axes[1] + row[2] * axes[2]));
  }
}

/// TIFF 6.0, section 21.
typedef struct ycc_scale {
  double red, blue;                          ///< the weights of both in luma; green has the rest
  double black[3], range[3];                 ///< the values that are 0, and the span to the largest
} ycc_scale;

static bool is_between(float value, float low, float high) { return value >= low && value <= high; }

static ycc_scale read_scale(const page *from) {
  ycc_scale scale = {.red = 0.299, .blue = 0.114, .black = {0, 128, 128}, .range = {255, 127, 127}};
  float *weights = NULL, *reference = NULL;
  TIFF *tiff = from->readers[0].tiff;
  if (TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &weights) && weights && is_between(weights[0], 0, 1) &&
      is_between(weights[2], 0, 1) && weights[0] + weights[2] < 1) {
    scale.red = (double)weights[0];
    scale.blue = (double)weights[2];
  }
  if (TIFFGetFieldDefaulted(tiff, TIFFTAG_REFERENCEBLACKWHITE, &reference) && reference) {
    for (int index = 0; index < 3; index++) {
      float black = reference[2 * index], white = reference[2 * index + 1];
      if (!is_between(black, 0, 255) || !is_between(white, black + 1, 65535)) continue;
      scale.black[index] = (double)black;
      scale.range[index] = (double)white - (double)black;
    }
  }
  return scale;
}

static void convert_ycc(const ycc_scale *scale, const uint8_t ycc[3], uint8_t rgb[3]) {
  double luma = (ycc[0] - scale->black[0]) / scale->range[0];
  double blue_difference = (ycc[1] - scale->black[1]) / scale->range[1] / 2;
  double red_difference = (ycc[2] - scale->black[2]) / scale->range[2] / 2;
  double red = luma + red_difference * (2 - 2 * scale->red);
  double blue = luma + blue_difference * (2 - 2 * scale->blue);
  double green = (luma - scale->red * red - scale->blue * blue) / (1 - scale->red - scale->blue);
  rgb[0] = rounded(red);
  rgb[1] = rounded(green);
  rgb[2] = rounded(blue);
}

/// Converts the means to RGB, where they are other colours. That is as good as to convert all pixels, and costs nothing.
void tiff_page_convert_planes(page *from) {
  if (from->meaning != LAB && from->meaning != YCC) return;
  const cdecoding_request *request = from->call->request;
  const cdecoding_plane *first = &request->planes[0];
  ycc_scale scale = read_scale(from);
  uint8_t *planes[3];
  for (int index = 0; index < 3; index++) planes[index] = from->call->memory + request->planes[index].offset;
  for (size_t place = 0; place < (size_t)first->columns * first->rows; place++) {
    const uint8_t mean[3] = {planes[0][place], planes[1][place], planes[2][place]};
    uint8_t rgb[3];
    if (from->meaning == LAB) {
      convert_lab(mean, rgb);
    } else {
      convert_ycc(&scale, mean, rgb);
    }
    for (int index = 0; index < 3; index++) planes[index][place] = rgb[index];
  }
}
#endif
