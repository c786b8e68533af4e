#ifdef THUMBJOB_FORMATS
// WebP, by libwebp but for lossless pictures. The caller has found the first frame; libwebp gets its
// chunks after a container header that we make, and so reads nothing else of the file: no metadata, no later frames.
//
// A lossy picture is decoded while it is read, 64 KiB at a time, and libwebp scales its planes on the way: areas become
// their means, so only few rows are in memory. A lossless picture has a decoder of our own: see vp8l.c.
//
// Beside Lanczos on the whole picture, a thumbnail of 256 pixels has an SSIM of 0.998 if libwebp scales to twice its
// size, and 0.9995 at three times. Where a lossy picture has alpha, libwebp's means of colours also count transparent
// pixels: the larger the scaled size, the fewer mixed ones.
//
// Source: RFC 9649 (WebP container, VP8L); RFC 6386 (VP8).

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "accumulator.h"
#include "decoding.h"
#include "vp8l.h"

enum {
  piece_size = 64 << 10,
  chunk_header = 8,
  riff_header = 12,
  extended_chunk = 18,
  longest_side = 16384,
  /// The bytes of a chunk that have its picture's size.
  shortest_chunk = chunk_header + 10,
};

/// The first frame.
typedef struct frame {
  const cdecoding_tile *tile;
  const cdecoding_extent *extents;
  bool is_lossy;
  bool has_alpha;
  /// Whether it covers the picture.
  bool covers;
  /// The container that libwebp sees before the chunks.
  uint8_t container[riff_header + extended_chunk];
  size_t container_size;
  /// The bytes of container and chunks.
  uint64_t size;
} frame;

static void write_24(uint8_t *into, uint32_t value) {
  into[0] = (uint8_t)value;
  into[1] = (uint8_t)(value >> 8);
  into[2] = (uint8_t)(value >> 16);
}

static void write_32(uint8_t *into, uint32_t value) {
  write_24(into, value);
  into[3] = (uint8_t)(value >> 24);
}

static uint32_t read_32(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/// Checks that an extent is a chunk with one of two names.
static bool check_chunk(
    decoding *call, const cdecoding_extent *extent, const uint8_t *head, const char *name, const char *other) {
  if ((memcmp(head, name, 4) != 0 && memcmp(head, other, 4) != 0) ||
      extent->size != (uint64_t)read_32(head + 4) + chunk_header) {
    decoding_fail(call, CDECODING_DAMAGED, "a chunk differs from what the header said");
    return false;
  }
  return true;
}

/// The bytes of a chunk in the container that libwebp sees: an even number.
static uint64_t padded(uint64_t size) { return size + (size & 1); }

static bool is_request_sound(const decoding *call) {
  const cdecoding_request *request = call->request;
  if (request->tile_count != 1 || !call->tiles || !call->extents) return false;
  const cdecoding_tile *tile = &call->tiles[0];
  if (tile->extent_count < 1 || tile->extent_count > 2 || tile->first_extent > request->extent_count ||
      tile->extent_count > request->extent_count - tile->first_extent) {
    return false;
  }
  if (tile->width == 0 || tile->width > longest_side || tile->height == 0 || tile->height > longest_side) {
    return false;
  }
  return request->plane_count == 3 && request->width <= CDECODING_MAX_SIDE && request->height <= CDECODING_MAX_SIDE &&
         request->scaled_width > 0 && request->scaled_width <= request->width && request->scaled_height > 0 &&
         request->scaled_height <= request->height;
}

/// Reads the beginnings of the frame's chunks, and makes the container.
static bool read_frame(decoding *call, frame *found) {
  const cdecoding_request *request = call->request;
  if (!is_request_sound(call)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the request does not fit a WebP picture");
    return false;
  }
  const cdecoding_tile *tile = &call->tiles[0];
  const cdecoding_extent *extents = call->extents + tile->first_extent;
  const cdecoding_extent *image = &extents[tile->extent_count - 1];
  *found = (frame){.tile = tile, .extents = extents};
  found->covers = tile->x == 0 && tile->y == 0 && tile->width == request->width && tile->height == request->height;

  uint8_t head[shortest_chunk];
  bool has_alpha_chunk = tile->extent_count == 2;
  uint64_t chunks = padded(image->size);
  if (has_alpha_chunk) {
    if (!decoding_read(call, extents[0].offset, head, chunk_header)) return false;
    if (!check_chunk(call, &extents[0], head, "ALPH", "ALPH")) return false;
    chunks += padded(extents[0].size);
  }
  if (!decoding_read(call, image->offset, head, sizeof head)) return false;
  if (!check_chunk(call, image, head, "VP8 ", has_alpha_chunk ? "VP8 " : "VP8L")) return false;

  WebPBitstreamFeatures features;
  if (WebPGetFeatures(head, sizeof head, &features) != VP8_STATUS_OK || features.width <= 0 || features.height <= 0 ||
      (uint32_t)features.width != tile->width || (uint32_t)features.height != tile->height) {
    decoding_fail(call, CDECODING_DAMAGED, "the frame has no size, or another one than the header said");
    return false;
  }
  found->is_lossy = head[3] == ' ';
  found->has_alpha = found->is_lossy ? has_alpha_chunk : features.has_alpha != 0;

  uint8_t *container = found->container;
  found->container_size = riff_header + (has_alpha_chunk ? extended_chunk : 0);
  found->size = found->container_size + chunks;
  if (found->size - chunk_header > UINT32_MAX) {
    decoding_fail(call, CDECODING_DAMAGED, "the chunks are too large");
    return false;
  }
  memcpy(container, "RIFF", 4);
  write_32(container + 4, (uint32_t)(found->size - chunk_header));
  memcpy(container + 8, "WEBP", 4);
  if (has_alpha_chunk) {
    const uint8_t alpha_flag = 0x10;
    memcpy(container + 12, "VP8X", 4);
    write_32(container + 16, extended_chunk - chunk_header);
    container[20] = alpha_flag;
    write_24(container + 24, tile->width - 1);
    write_24(container + 27, tile->height - 1);
  }
  return true;
}

/// A place in the container and the chunks.
typedef struct cursor {
  size_t part;      ///< 0 is the container, then the chunks
  uint64_t offset;  ///< in that part
} cursor;

/// Copies up to `capacity` bytes from the cursor on. Returns fewer only at the end, or if the call has failed.
static size_t read_on(decoding *call, const frame *found, cursor *place, uint8_t *into, size_t capacity) {
  size_t done = 0;
  while (done < capacity && place->part <= found->tile->extent_count) {
    const cdecoding_extent *extent = place->part == 0 ? NULL : &found->extents[place->part - 1];
    uint64_t in_file = extent ? extent->size : found->container_size;
    uint64_t size = extent ? padded(in_file) : in_file;
    size_t taken = capacity - done;
    if (place->offset == size) {
      *place = (cursor){.part = place->part + 1};
      continue;
    }
    if (place->offset >= in_file) {
      // The padding may be missing at the end of a file.
      taken = 1;
      into[done] = 0;
    } else {
      if (taken > in_file - place->offset) taken = (size_t)(in_file - place->offset);
      if (!extent) {
        memcpy(into + done, found->container + place->offset, taken);
      } else if (!decoding_read(call, extent->offset + place->offset, into + done, taken)) {
        return done;
      }
    }
    place->offset += taken;
    done += taken;
  }
  return done;
}

/// Records why libwebp has not finished.
static void fail(decoding *call, VP8StatusCode status) {
  // libwebp 1.2 says that the data is broken when it gets no memory for Huffman codes.
  if (errno == ENOMEM) status = VP8_STATUS_OUT_OF_MEMORY;
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: decoding_fail(call, CDECODING_NO_MEMORY, "libwebp needs more memory"); break;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      decoding_fail(call, CDECODING_TRUNCATED, "the data ends before the picture does");
      break;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      decoding_fail(call, CDECODING_UNSUPPORTED, "libwebp does not support a feature of the picture");
      break;
    case VP8_STATUS_INVALID_PARAM:
      decoding_fail(call, CDECODING_BAD_CALL, "libwebp rejects the parameters");
      break;
    default: decoding_fail(call, CDECODING_DAMAGED, "the data breaks the format"); break;
  }
}

/// Decodes a lossy frame while it is read.
static void decode_in_pieces(decoding *call, const frame *found, WebPDecoderConfig *config) {
  WebPIDecoder *decoder = WebPIDecode(NULL, 0, config);
  uint8_t *piece = malloc(piece_size);
  VP8StatusCode status = decoder && piece ? VP8_STATUS_SUSPENDED : VP8_STATUS_OUT_OF_MEMORY;
  cursor place = {0};
  uint64_t done = 0;
  while (status == VP8_STATUS_SUSPENDED && done < found->size) {
    if (!decoding_proceeds(call, (double)done / (double)found->size)) break;
    size_t count = read_on(call, found, &place, piece, piece_size);
    if (call->reply->status != CDECODING_OK) break;
    status = WebPIAppend(decoder, piece, count);
    done += count;
  }
  WebPIDelete(decoder);
  free(piece);
  if (status != VP8_STATUS_OK) fail(call, status);
}

/// Whether the planes are those of the decoded samples.
static bool fits(const cdecoding_request *request, bool is_subsampled) {
  for (unsigned index = 0; index < 3; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    bool is_half = is_subsampled && index > 0;
    if (plane->width != (is_half ? (request->scaled_width + 1) / 2 : request->scaled_width) ||
        plane->height != (is_half ? (request->scaled_height + 1) / 2 : request->scaled_height)) {
      return false;
    }
  }
  return true;
}

static void add_rows(decoding *call, const frame *found, const WebPDecBuffer *output, accumulator *sums) {
  size_t width = (size_t)output->width;
  for (int row = 0; row < output->height; row++) {
    if (row % 64 == 0 && !decoding_proceeds(call, 1)) return;
    if (output->colorspace == MODE_YUV) {
      const WebPYUVABuffer *planes = &output->u.YUVA;
      accumulator_add_component(sums, 0, 0, row, width, planes->y + (ptrdiff_t)row * planes->y_stride, 8, NULL);
      if (row % 2 != 0) continue;
      int half = row / 2;
      size_t count = (width + 1) / 2;
      accumulator_add_component(sums, 1, 0, half, count, planes->u + (ptrdiff_t)half * planes->u_stride, 8, NULL);
      accumulator_add_component(sums, 2, 0, half, count, planes->v + (ptrdiff_t)half * planes->v_stride, 8, NULL);
    } else {
      const WebPRGBABuffer *pixels = &output->u.RGBA;
      accumulator_add(
          sums, found->tile->x, (int64_t)found->tile->y + row, width, pixels->rgba + (ptrdiff_t)row * pixels->stride,
          output->colorspace == MODE_RGBA ? SAMPLES_RGBA : SAMPLES_RGB);
    }
  }
}

void decode_webp(decoding *call) {
  const cdecoding_request *request = call->request;
  frame found;
  if (!read_frame(call, &found)) return;
  bool is_opaque = found.covers && !found.has_alpha;
  // Where nothing is transparent, luma and chroma stay as they are coded.
  bool is_subsampled = found.is_lossy && is_opaque;
  bool is_scaled = request->scaled_width != request->width || request->scaled_height != request->height;
  WebPDecoderConfig config;
  bool is_scalable = found.covers && found.is_lossy;
  if (!fits(request, is_subsampled) || (is_scaled && !is_scalable) || !WebPInitDecoderConfig(&config)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the planes do not fit the WebP picture");
    return;
  }
  config.output.colorspace = is_subsampled ? MODE_YUV : found.has_alpha ? MODE_RGBA : MODE_RGB;
  config.options.use_scaling = is_scaled;
  config.options.scaled_width = (int)request->scaled_width;
  config.options.scaled_height = (int)request->scaled_height;

  accumulator sums;
  cdecoding_status status = accumulator_init(&sums, request, !is_opaque, call->memory, call->memory_size);
  if (status != CDECODING_OK) {
    decoding_fail(call, status, "no memory for the planes, or no place in it");
  } else {
    errno = 0;
    if (found.is_lossy) {
      decode_in_pieces(call, &found, &config);
      if (call->reply->status == CDECODING_OK) add_rows(call, &found, &config.output, &sums);
    } else {
      const cdecoding_extent *chunk = found.extents;
      cdecoding_extent stream = {.offset = chunk->offset + chunk_header, .size = chunk->size - chunk_header};
      decode_vp8l(call, stream, found.tile, found.has_alpha, &sums);
    }
    if (call->reply->status == CDECODING_OK) accumulator_finish(&sums);
  }
  WebPFreeDecBuffer(&config.output);
  accumulator_free(&sums);
}
#endif
