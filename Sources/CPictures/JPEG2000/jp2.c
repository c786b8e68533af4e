#ifdef THUMBJOB_FORMATS
// JPEG 2000 by OpenJPEG: the codestream, at the resolution that remains without the levels that the request discards. The
// caller has found codestream, palette and channel definitions in their boxes; OpenJPEG sees the codestream only.
//
// Pictures of several tiles are decoded tile by tile, in the file's order, so that one tile is in memory at a time, besides
// the compressed data of those whose parts are scattered. A single tile is decoded whole: OpenJPEG then leaves its samples
// where it made them, which takes less memory than a copy in bytes.
//
// OpenJPEG decodes a whole tile at once, and cannot be cancelled meanwhile. It does not check each of its small allocations,
// so the allocator of the process must not return without memory. See cpictures_needs_memory().
//
// Source: ISO/IEC 15444-1, A.5 (SIZ), B.2 to B.5 (the grids); OpenJPEG 2.5, openjpeg.h.

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jp2.h"

// MARK: Grids

static uint32_t quotient_up(uint32_t value, uint32_t divisor) { return value / divisor + (value % divisor != 0); }

/// A coordinate of the reference grid in that of a component, at the resolution that remains.
static uint32_t in_grid(uint32_t value, uint32_t step, unsigned levels) {
  return (uint32_t)(((uint64_t)quotient_up(value, step) + ((uint64_t)1 << levels) - 1) >> levels);
}

/// Takes the components from the header, and checks them against the request.
static bool read_components(jp2_reading *reading) {
  decoding *call = reading->call;
  const opj_image_t *image = reading->image;
  unsigned levels = call->request->discarded_levels;
  if (image->numcomps == 0 || !image->comps) return jp2_fail_for_memory(reading);
  if (image->numcomps > jp2_most_components || image->x1 > INT32_MAX || image->y1 > INT32_MAX) {
    decoding_fail(call, CDECODING_UNSUPPORTED, "%u components, or a large reference grid", image->numcomps);
    return false;
  }
  reading->component_count = image->numcomps;
  for (unsigned index = 0; index < image->numcomps; index++) {
    const opj_image_comp_t *from = &image->comps[index];
    component *into = &reading->components[index];
    *into = (component){.across = from->dx, .down = from->dy, .bits = from->prec, .is_signed = from->sgnd != 0};
    if (from->dx == 0 || from->dy == 0 || from->prec == 0 || from->prec > 31) {
      return jp2_fail_as_damaged(reading, "a component has no samples");
    }
    into->left = in_grid(image->x0, from->dx, levels);
    into->top = in_grid(image->y0, from->dy, levels);
    into->width = in_grid(image->x1, from->dx, levels) - into->left;
    into->height = in_grid(image->y1, from->dy, levels) - into->top;
    if (into->width == 0 || into->height == 0) return jp2_fail_as_damaged(reading, "a component has no samples");
    if (into->width > CDECODING_MAX_SIDE || into->height > CDECODING_MAX_SIDE) {
      decoding_fail(call, CDECODING_UNSUPPORTED, "a picture of %u x %u pixels", into->width, into->height);
      return false;
    }
  }
  return true;
}

/// Where a part of the picture, as corners in the reference grid, is in a component.
static samples part_of(const jp2_reading *reading, const component *whole, const uint32_t corners[4]) {
  unsigned levels = reading->call->request->discarded_levels;
  uint32_t left = in_grid(corners[0], whole->across, levels), top = in_grid(corners[1], whole->down, levels);
  return (samples){
      .x = left - whole->left, .y = top - whole->top,
      .width = in_grid(corners[2], whole->across, levels) - left,
      .height = in_grid(corners[3], whole->down, levels) - top};
}

/// Whether two lengths differ by one sample at most, as those of a coarse component may if the picture begins at an odd
/// place.
static bool is_near(uint32_t one, uint32_t other) { return (one > other ? one - other : other - one) <= 1; }

static bool prepare_sums(jp2_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  const opj_image_t *image = reading->image;
  const component *first = jp2_component_of(reading, reading->colors[0]);
  if (in_grid(image->x1, first->across, 0) - in_grid(image->x0, first->across, 0) != request->width ||
      in_grid(image->y1, first->down, 0) - in_grid(image->y0, first->down, 0) != request->height) {
    return jp2_fail_as_damaged(reading, "the picture has another size than its header says");
  }
  bool fits = first->width == request->scaled_width && first->height == request->scaled_height;
  uint32_t widest = 0;
  for (unsigned index = 0; index < request->plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    const component *own = jp2_is_spread(reading, index) ? first : jp2_component_of(reading, reading->colors[index]);
    fits = fits && is_near(plane->width, own->width) && is_near(plane->height, own->height);
    if (own->width > widest) widest = own->width;
  }
  fits = fits && request->planes[0].width == first->width && request->planes[0].height == first->height;
  if (!fits) {
    decoding_fail(call, CDECODING_BAD_CALL, "the planes do not fit the picture");
    return false;
  }
  if (!accumulator_prepare(&reading->sums, call, reading->has_alpha)) return false;
  reading->words = malloc(((size_t)widest + 1) * sizeof *reading->words);
  reading->bytes = malloc((size_t)widest + 1);
  reading->opacities = malloc((size_t)widest + 1);
  return (reading->words && reading->bytes && reading->opacities) || jp2_fail_for_memory(reading);
}

// MARK: Tiles

/// Decodes a picture of one tile.
static bool decode_whole(jp2_reading *reading, const opj_codestream_info_v2_t *info) {
  opj_image_t *image = reading->image;
  uint32_t corners[4] = {image->x0, image->y0, image->x1, image->y1};
  if (!opj_decode(reading->codec, reading->stream, image)) {
    jp2_fail(reading);
    return false;
  }
  if (image->numcomps != reading->component_count) return jp2_fail_for_memory(reading);
  for (unsigned index = 0; index < reading->component_count; index++) {
    const opj_image_comp_t *from = &image->comps[index];
    component *into = &reading->components[index];
    into->part = part_of(reading, into, corners);
    into->part.bytes = sizeof *from->data;
    into->part.bytes_of_rows = (const uint8_t *)from->data;
    if (!from->data || from->w != into->width || from->h != into->height) {
      return jp2_fail_as_damaged(reading, "a component has another size than the header says");
    }
    // OpenJPEG leaves the rest of the samples as it found them.
    const opj_tccp_info_t *coding = info->m_default_tile_info.tccp_info;
    if (coding && from->resno_decoded + 1 + reading->call->request->discarded_levels < coding[index].numresolutions) {
      decoding_find_damage(reading->call, "a component has no data of its last resolution levels");
    }
  }
  reading->done = 1;
  return reading->call->reply->status == CDECODING_OK && jp2_add_part(reading);
}

/// The samples of a tile, of which OpenJPEG writes one component after the other.
static bool find_samples(jp2_reading *reading, const uint32_t corners[4], const uint8_t *bytes, size_t size) {
  size_t position = 0;
  for (unsigned index = 0; index < reading->component_count; index++) {
    component *into = &reading->components[index];
    into->part = part_of(reading, into, corners);
    into->part.bytes = into->bits <= 8 ? 1 : into->bits <= 16 ? 2 : 4;
    into->part.bytes_of_rows = bytes + position;
    uint64_t taken = (uint64_t)into->part.width * into->part.height * into->part.bytes;
    if (taken > size - position) return jp2_fail_as_damaged(reading, "a tile has another size than the header says");
    position += (size_t)taken;
  }
  return true;
}

/// Decodes a picture of several tiles.
static bool decode_tiles(jp2_reading *reading, uint32_t tile_count) {
  decoding *call = reading->call;
  const opj_image_t *image = reading->image;
  // Each sample is added once.
  bool *is_decoded = calloc(tile_count, sizeof *is_decoded);
  if (!is_decoded) return jp2_fail_for_memory(reading);
  uint8_t *bytes = NULL;
  size_t capacity = 0;
  uint32_t decoded = 0;
  bool goes_on = true;
  while (goes_on) {
    reading->done = (double)decoded / tile_count;
    goes_on = decoding_proceeds(call, reading->done);
    if (!goes_on) break;
    OPJ_UINT32 index, size, count;
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_BOOL is_tile = OPJ_FALSE;
    goes_on = opj_read_tile_header(
        reading->codec, reading->stream, &index, &size, &x0, &y0, &x1, &y1, &count, &is_tile);
    // OpenJPEG would go on without a tag tree for which it had no memory, and crash.
    goes_on = goes_on && !reading->is_out_of_memory;
    if (!goes_on) jp2_fail(reading);
    if (!goes_on || !is_tile) break;
    if (index >= tile_count || is_decoded[index]) {
      goes_on = jp2_fail_as_damaged(reading, "a tile is coded twice");
      break;
    }
    if (x0 < 0 || y0 < 0 || (uint32_t)x0 < image->x0 || (uint32_t)y0 < image->y0 || x1 < x0 || y1 < y0) {
      goes_on = jp2_fail_as_damaged(reading, "a tile is outside the picture");
      break;
    }
    if (size > capacity) {
      free(bytes);
      bytes = malloc(size);
      capacity = bytes ? size : 0;
      goes_on = bytes != NULL || jp2_fail_for_memory(reading);
      if (!goes_on) break;
    }
    // A tile may lack its last resolution levels.
    if (size > 0) memset(bytes, 0, size);
    goes_on = opj_decode_tile_data(reading->codec, index, bytes, size, reading->stream);
    if (!goes_on) {
      jp2_fail(reading);
      break;
    }
    const uint32_t corners[4] = {(uint32_t)x0, (uint32_t)y0, (uint32_t)x1, (uint32_t)y1};
    goes_on = call->reply->status == CDECODING_OK && find_samples(reading, corners, bytes, size) && jp2_add_part(reading);
    is_decoded[index] = true;
    decoded++;
  }
  free(bytes);
  free(is_decoded);
  if (goes_on && decoded < tile_count) {
    decoding_fail(call, CDECODING_TRUNCATED, "%u of %u tiles are missing", tile_count - decoded, tile_count);
    goes_on = false;
  }
  return goes_on;
}

static bool decode_picture(jp2_reading *reading) {
  errno = 0;
  if (!jp2_check_end(reading) || !jp2_open(reading) || !read_components(reading) || !jp2_read_channels(reading) ||
      !prepare_sums(reading)) {
    return false;
  }
  opj_codestream_info_v2_t *info = opj_get_cstr_info(reading->codec);
  if (!info) return jp2_fail_for_memory(reading);
  bool is_single = info->tw == 1 && info->th == 1;
  bool is_decoded = is_single ? decode_whole(reading, info) : decode_tiles(reading, info->tw * info->th);
  opj_destroy_cstr_info(&info);
  return is_decoded;
}

static bool is_request_sound(const decoding *call) {
  const cdecoding_request *request = call->request;
  return request->extent_count == extents_of_picture && call->extents && request->discarded_levels <= 32 &&
         request->plane_count > 0 && request->plane_count <= CDECODING_MAX_COMPONENTS;
}

void decode_jp2(decoding *call) {
  if (!is_request_sound(call)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the request does not describe a JPEG 2000 picture");
    return;
  }
  jp2_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = call;
  reading->codestream = call->extents[codestream_extent];
  // The box may be longer than the file.
  uint64_t size = call->input->size, start = reading->codestream.offset;
  if (start > size) start = reading->codestream.offset = size;
  if (reading->codestream.size > size - start) reading->codestream.size = size - start;
  if (decode_picture(reading)) accumulator_finish(&reading->sums);
  if (reading->codec) opj_destroy_codec(reading->codec);
  if (reading->stream) opj_stream_destroy(reading->stream);
  opj_image_destroy(reading->image);
  accumulator_free(&reading->sums);
  free(reading->palette.values);
  free(reading->words);
  free(reading->bytes);
  free(reading->opacities);
  free(reading);
}
#endif
