#include "encoding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void encoding_fail(encoding *call, cdecoding_status status, const char *format, ...) {
  if (encoding_has_failed(call)) return;
  call->reply->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->reply->message, CDECODING_MESSAGE_SIZE, format, arguments);
  va_end(arguments);
}

bool encoding_write(encoding *call, const void *bytes, size_t count) {
  if (encoding_has_failed(call)) return false;
  const cdecoding_extent *file = &call->request->file;
  if (count > file->size - call->size) {
    encoding_fail(call, CDECODING_NO_MEMORY, "the file has more than %llu bytes", (unsigned long long)file->size);
    return false;
  }
  memcpy(call->memory + file->offset + call->size, bytes, count);
  call->size += count;
  return true;
}

static bool is_inside(const cdecoding_extent *extent, size_t memory_size) {
  return extent->offset <= memory_size && extent->size <= memory_size - extent->offset;
}

/// Whether a plane has this size and lies in memory.
static bool is_plane(const cencoding_plane *plane, uint32_t columns, uint32_t rows, size_t memory_size) {
  const cdecoding_extent extent = {.offset = plane->offset, .size = (uint64_t)columns * rows};
  return plane->columns == columns && plane->rows == rows && is_inside(&extent, memory_size);
}

/// Whether the request agrees with itself and with its memory.
static bool is_sound(const cencoding_request *request, size_t memory_size) {
  uint32_t width = request->width, height = request->height;
  if (width == 0 || width > CDECODING_MAX_SIDE || height == 0 || height > CDECODING_MAX_SIDE) return false;
  if (request->samples < CENCODING_GREY || request->samples > CENCODING_RGB || request->effort > 9) return false;
  const cencoding_plane *planes = request->planes;
  unsigned colors = request->samples == CENCODING_GREY ? 1 : 3;
  if (!is_plane(&planes[0], width, height, memory_size)) return false;
  for (unsigned index = 1; index < colors; index++) {
    bool is_whole = is_plane(&planes[index], width, height, memory_size);
    bool is_half = request->samples == CENCODING_YCC && planes[index].columns == planes[1].columns &&
                   is_plane(&planes[index], (width + 1) / 2, (height + 1) / 2, memory_size);
    if (!is_whole && !is_half) return false;
  }
  if (request->has_alpha && !is_plane(&planes[colors], width, height, memory_size)) return false;
  return is_inside(&request->exif, memory_size) && is_inside(&request->profile, memory_size) &&
         is_inside(&request->file, memory_size);
}

void cencoders_encode(
    const cencoding_request *request, const cencoding_progress *progress, uint8_t *memory, size_t memory_size,
    cdecoding_reply *reply) {
  memset(reply, 0, sizeof *reply);
  encoding call = {.request = request, .progress = progress, .reply = reply, .memory = memory};
  if (!is_sound(request, memory_size)) {
    encoding_fail(&call, CDECODING_BAD_CALL, "the request to encode contradicts itself");
    return;
  }
  switch (request->format) {
#ifdef THUMBJOB_FORMATS
    case CENCODING_WEBP: encode_webp(&call); break;
    case CENCODING_AVIF: encode_avif(&call); break;
    case CENCODING_PNG: encode_png(&call); break;
#else
    case CENCODING_WEBP:
    case CENCODING_AVIF:
    case CENCODING_PNG: encoding_fail(&call, CDECODING_UNSUPPORTED, "this thumbjob is built for JPEG alone"); break;
#endif
    default: encoding_fail(&call, CDECODING_BAD_CALL, "no encoder has the number %d", (int)request->format);
  }
  reply->file_size = encoding_has_failed(&call) ? 0 : call.size;
}
