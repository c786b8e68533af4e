#ifdef THUMBJOB_FORMATS
// GIF by giflib, row by row: the first frame, on a screen that is transparent around it.
//
// Source: GIF89a, 18 "Logical Screen Descriptor", 20 "Image Descriptor", 23 "Graphic Control Extension", appendix E.

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"
#include "stream.h"

// Asks whether to go on after so many rows.
#define ROWS_BETWEEN_CHECKS 64

#define COLORS 256

typedef struct gif_reading {
  decoding *call;
  GifFileType *gif;
  accumulator sums;
  /// The colour of each index; transparent or opaque.
  uint8_t palette[COLORS][4];
  /// The index that is transparent, or NO_TRANSPARENT_COLOR.
  int transparent;
  bool has_finished_block;
  uint8_t *_Nullable indices;
  uint8_t *_Nullable pixels;
  stream input;
} gif_reading;

static int read_bytes(GifFileType *gif, GifByteType *into, int count) {
  gif_reading *reading = gif->UserData;
  size_t taken = stream_read(&reading->input, into, (size_t)count);
  if (taken == 0 && count == 1 && reading->input.ended && !reading->has_finished_block) {
    // After the last row giflib reads on to the end of the data. If the file ends before, this is a block without bytes,
    // which ends the data. So giflib fails only if the picture needs what is missing.
    reading->has_finished_block = true;
    *into = 0;
    return 1;
  }
  return (int)taken;
}

/// Records why giflib has failed.
static void fail(gif_reading *reading, int error) {
  decoding *call = reading->call;
  if (reading->input.ended) {
    decoding_fail(call, CDECODING_TRUNCATED, "the file ends too early");
    return;
  }
  switch (error) {
    case D_GIF_ERR_NOT_ENOUGH_MEM: decoding_fail(call, CDECODING_NO_MEMORY, "out of memory"); break;
    case D_GIF_ERR_EOF_TOO_SOON: decoding_fail(call, CDECODING_TRUNCATED, "the picture's data ends before its last row"); break;
    case D_GIF_ERR_NOT_GIF_FILE: decoding_fail(call, CDECODING_DAMAGED, "the file does not begin as a GIF"); break;
    case D_GIF_ERR_WRONG_RECORD: decoding_fail(call, CDECODING_DAMAGED, "no block begins where one should"); break;
    case D_GIF_ERR_IMAGE_DEFECT: decoding_fail(call, CDECODING_DAMAGED, "the picture's LZW codes are wrong"); break;
    default: decoding_fail(call, CDECODING_DAMAGED, "the picture's data is wrong"); break;
  }
}

/// Reads an extension, and remembers the transparent colour of a graphic control extension.
static bool read_extension(gif_reading *reading) {
  int code;
  GifByteType *block;
  if (DGifGetExtension(reading->gif, &code, &block) == GIF_ERROR) return false;
  GraphicsControlBlock control;
  // The first byte of a block is its size.
  if (code == GRAPHICS_EXT_FUNC_CODE && block && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
    reading->transparent = control.TransparentColor;
  }
  while (block) {
    if (DGifGetExtensionNext(reading->gif, &block) == GIF_ERROR) return false;
  }
  return true;
}

/// Reads up to the data of the first frame.
static bool find_frame(gif_reading *reading) {
  for (;;) {
    GifRecordType type;
    if (DGifGetRecordType(reading->gif, &type) == GIF_ERROR) return false;
    switch (type) {
      case IMAGE_DESC_RECORD_TYPE: return DGifGetImageDesc(reading->gif) == GIF_OK;
      case EXTENSION_RECORD_TYPE:
        if (!read_extension(reading)) return false;
        break;
      default: decoding_fail(reading->call, CDECODING_DAMAGED, "the file has no picture"); return false;
    }
  }
}

static uint32_t larger(int first, int second) { return (uint32_t)(first > second ? first : second); }

/// Makes sums and rows for the frame.
static bool prepare(gif_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  const GifFileType *gif = reading->gif;
  const GifImageDesc *frame = &gif->Image;
  // The screen is enlarged for a first frame that exceeds it, as browsers do.
  uint32_t width = larger(gif->SWidth, frame->Left + frame->Width);
  uint32_t height = larger(gif->SHeight, frame->Top + frame->Height);
  if (width != request->width || height != request->height) {
    decoding_fail(call, CDECODING_DAMAGED, "the picture has another size than its header says");
    return false;
  }
  if (frame->Width <= 0 || frame->Height <= 0) {
    decoding_fail(call, CDECODING_DAMAGED, "the first frame has no pixels");
    return false;
  }
  const ColorMapObject *colors = frame->ColorMap ? frame->ColorMap : gif->SColorMap;
  for (int index = 0; index < COLORS; index++) {
    GifColorType color = {0};
    if (!colors) {
      // A table of one's own is allowed then, which should begin with black and white.
      const GifByteType grey = index == 1 ? 255 : (GifByteType)index;
      color = (GifColorType){grey, grey, grey};
    } else if (index < colors->ColorCount) {
      color = colors->Colors[index];
    }
    const uint8_t opacity = index == reading->transparent ? 0 : 255;
    memcpy(reading->palette[index], (uint8_t[]){color.Red, color.Green, color.Blue, opacity}, 4);
  }
  bool has_alpha = reading->transparent != NO_TRANSPARENT_COLOR || (uint32_t)frame->Width != width ||
                   (uint32_t)frame->Height != height;
  if (!decoding_expects_pixels(call, 3)) return false;
  if (!accumulator_prepare(&reading->sums, call, has_alpha)) return false;
  reading->indices = malloc((size_t)frame->Width);
  reading->pixels = malloc((size_t)frame->Width * 4);
  if (!reading->indices || !reading->pixels) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return false;
  }
  return true;
}

/// Looks up the colours of a row and adds them up.
static void add_row(gif_reading *reading, int row) {
  const GifImageDesc *frame = &reading->gif->Image;
  const uint8_t *indices = reading->indices;
  uint8_t *pixels = reading->pixels;
  size_t width = (size_t)frame->Width;
  bool has_alpha = reading->transparent != NO_TRANSPARENT_COLOR;
  if (has_alpha) {
    for (size_t column = 0; column < width; column++) memcpy(pixels + 4 * column, reading->palette[indices[column]], 4);
  } else {
    for (size_t column = 0; column < width; column++) memcpy(pixels + 3 * column, reading->palette[indices[column]], 3);
  }
  accumulator_add(
      &reading->sums, frame->Left, frame->Top + row, width, pixels, has_alpha ? SAMPLES_RGBA : SAMPLES_RGB);
}

/// Reads the indices of a row. After the last pixel of all, giflib also reads the end of the data, and fails if the
/// file ends before it. So this pixel is read alone; if the file ends here, it may be like the one on its left.
static bool read_row(gif_reading *reading, bool is_last) {
  int width = reading->gif->Image.Width;
  if (!is_last) return DGifGetLine(reading->gif, reading->indices, width) == GIF_OK;
  if (width > 1 && DGifGetLine(reading->gif, reading->indices, width - 1) == GIF_ERROR) return false;
  uint8_t *last = reading->indices + width - 1;
  *last = width > 1 ? last[-1] : 0;
  return DGifGetLine(reading->gif, last, 1) == GIF_OK || reading->input.ended;
}

static bool read_rows(gif_reading *reading) {
  const GifImageDesc *frame = &reading->gif->Image;
  static const struct {
    int start, step;
  } passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}}, whole[] = {{0, 1}};
  int done = 0;
  for (int pass = 0; pass < (frame->Interlace ? 4 : 1); pass++) {
    int step = frame->Interlace ? passes[pass].step : whole[pass].step;
    for (int row = frame->Interlace ? passes[pass].start : 0; row < frame->Height; row += step, done++) {
      if (done % ROWS_BETWEEN_CHECKS == 0) {
        reading->input.done = (double)done / frame->Height;
        if (!decoding_proceeds(reading->call, reading->input.done)) return false;
      }
      if (!read_row(reading, done == frame->Height - 1)) return false;
      add_row(reading, row);
    }
  }
  if (reading->input.ended) decoding_warn(reading->call, "the file ends after the last row");
  return true;
}

void decode_gif(decoding *call) {
  gif_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = reading->input.call = call;
  reading->transparent = NO_TRANSPARENT_COLOR;
  int error = D_GIF_SUCCEEDED;
  reading->gif = DGifOpen(reading, read_bytes, &error);
  if (!reading->gif) {
    fail(reading, error);
  } else if (!find_frame(reading)) {
    fail(reading, reading->gif->Error);
  } else if (prepare(reading)) {
    if (read_rows(reading)) {
      accumulator_finish(&reading->sums);
    } else {
      fail(reading, reading->gif->Error);
    }
  }
  if (reading->gif) DGifCloseFile(reading->gif, &error);
  accumulator_free(&reading->sums);
  free(reading->indices);
  free(reading->pixels);
  free(reading);
}
#endif
