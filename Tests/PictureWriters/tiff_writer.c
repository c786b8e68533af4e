#ifdef THUMBJOB_FORMATS
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "picture_writers.h"

/// A file in memory, which grows.
typedef struct growing_file {
  written_file file;
  size_t capacity, position;
} growing_file;

static tmsize_t read_file(thandle_t handle, void *into, tmsize_t count) {
  growing_file *from = handle;
  size_t there = from->position < from->file.size ? from->file.size - from->position : 0;
  size_t taken = there < (size_t)count ? there : (size_t)count;
  if (taken > 0) memcpy(into, from->file.bytes + from->position, taken);
  from->position += taken;
  return (tmsize_t)taken;
}

static tmsize_t write_file(thandle_t handle, void *bytes, tmsize_t count) {
  growing_file *to = handle;
  size_t end = to->position + (size_t)count;
  if (end > to->capacity) {
    size_t capacity = end * 2;
    uint8_t *larger = realloc(to->file.bytes, capacity);
    if (!larger) return -1;
    memset(larger + to->capacity, 0, capacity - to->capacity);
    to->file.bytes = larger;
    to->capacity = capacity;
  }
  memcpy(to->file.bytes + to->position, bytes, (size_t)count);
  to->position = end;
  if (end > to->file.size) to->file.size = end;
  return count;
}

static toff_t seek_file(thandle_t handle, toff_t offset, int whence) {
  growing_file *in = handle;
  if (whence == SEEK_CUR) offset += in->position;
  if (whence == SEEK_END) offset += in->file.size;
  in->position = offset;
  return offset;
}

static int close_file(thandle_t handle) {
  (void)handle;
  return 0;
}

static toff_t file_size(thandle_t handle) { return ((growing_file *)handle)->file.size; }

static void set_fields(TIFF *tiff, const tiff_recipe *recipe) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, recipe->width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, recipe->height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, recipe->samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, recipe->bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, recipe->format);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, recipe->compression);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, recipe->photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, recipe->is_separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_FILLORDER, recipe->has_reversed_bits ? FILLORDER_LSB2MSB : FILLORDER_MSB2LSB);
  if (recipe->predictor > 0) TIFFSetField(tiff, TIFFTAG_PREDICTOR, recipe->predictor);
  if (recipe->extra > 0) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, (uint16_t)1, &recipe->extra);
  if (recipe->across > 0) TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, recipe->across, recipe->down);
  if (recipe->compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
    if (recipe->photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (recipe->map) {
    size_t count = (size_t)1 << recipe->bits;
    TIFFSetField(tiff, TIFFTAG_COLORMAP, recipe->map, recipe->map + count, recipe->map + 2 * count);
  }
  if (recipe->rows_per_strip > 0) {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, recipe->rows_per_strip);
  } else {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, recipe->tile_side);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, recipe->tile_side);
  }
}

/// How many rows of pixels a row of samples has: several if these are blocks of subsampled chroma.
static uint32_t pixels_down(const tiff_recipe *recipe) {
  return recipe->across > 0 && recipe->compression != COMPRESSION_JPEG ? recipe->down : 1;
}

static bool write_strips(TIFF *tiff, const tiff_recipe *recipe, uint8_t *rows, size_t row_size) {
  uint32_t down = pixels_down(recipe);
  for (uint16_t plane = 0; plane < (recipe->is_separate ? recipe->samples : 1); plane++) {
    for (uint32_t y = 0; y < recipe->height; y += recipe->rows_per_strip) {
      uint32_t left = recipe->height - y;
      uint32_t count = ((left < recipe->rows_per_strip ? left : recipe->rows_per_strip) + down - 1) / down;
      tmsize_t size = (tmsize_t)(count * row_size);
      if (TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), rows, size) != size) return false;
      rows += size;
    }
  }
  return true;
}

/// Samples must have 8 bits or more.
static bool write_tiles(TIFF *tiff, const tiff_recipe *recipe, const uint8_t *rows, size_t row_size) {
  size_t pixel = (size_t)recipe->bits / 8 * (recipe->is_separate ? 1 : recipe->samples);
  size_t tile_row = pixel * recipe->tile_side, size = tile_row * recipe->tile_side;
  uint8_t *tile = malloc(size);
  bool is_good = tile != NULL;
  uint16_t planes = recipe->is_separate ? recipe->samples : 1;
  for (uint16_t plane = 0; plane < planes; plane++, rows += row_size * recipe->height) {
    for (uint32_t y = 0; y < recipe->height; y += recipe->tile_side) {
      for (uint32_t x = 0; is_good && x < recipe->width; x += recipe->tile_side) {
        // What is outside the picture must not be shown.
        memset(tile, 0x5A, size);
        uint32_t columns = recipe->width - x < recipe->tile_side ? recipe->width - x : recipe->tile_side;
        for (uint32_t row = 0; row < recipe->tile_side && y + row < recipe->height; row++) {
          memcpy(tile + row * tile_row, rows + (y + row) * row_size + x * pixel, columns * pixel);
        }
        is_good = TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), tile, (tmsize_t)size) >= 0;
      }
    }
  }
  free(tile);
  return is_good;
}

written_file write_tiff(const tiff_recipe *recipe, const uint8_t *rows, size_t row_size) {
  growing_file file = {0};
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
  const char *mode = recipe->is_big ? (recipe->is_big_endian ? "w8b" : "w8l") : (recipe->is_big_endian ? "wb" : "wl");
  TIFF *tiff =
      TIFFClientOpen("", mode, &file, read_file, write_file, seek_file, close_file, file_size, NULL, NULL);
  if (!tiff) return file.file;
  set_fields(tiff, recipe);
  size_t planes = recipe->is_separate ? recipe->samples : 1;
  size_t row_count = (recipe->height - 1) / pixels_down(recipe) + 1;
  // libtiff changes the samples that it writes.
  uint8_t *copy = malloc(row_size * row_count * planes);
  if (copy) memcpy(copy, rows, row_size * row_count * planes);
  bool is_good = copy && (recipe->rows_per_strip > 0 ? write_strips(tiff, recipe, copy, row_size)
                                                     : write_tiles(tiff, recipe, copy, row_size));
  TIFFClose(tiff);
  free(copy);
  if (!is_good) {
    free(file.file.bytes);
    file.file = (written_file){0};
  }
  return file.file;
}
#endif
