#include "decoding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_line(char into[CDECODING_MESSAGE_SIZE], const char *format, va_list arguments) {
  vsnprintf(into, CDECODING_MESSAGE_SIZE, format, arguments);
  // Libraries put names and values of the file into messages. They become one printable line.
  for (char *byte = into; *byte != '\0'; byte++) {
    if (*byte < ' ' || *byte > '~') *byte = *byte == '\n' || *byte == '\t' ? ' ' : '?';
  }
  for (size_t length = strlen(into); length > 0 && into[length - 1] == ' '; length--) into[length - 1] = '\0';
}

cdecoding_status decoding_fail(decoding *call, cdecoding_status status, const char *format, ...) {
  if (call->reply->status != CDECODING_OK) return status;
  call->reply->status = status;
  va_list arguments;
  va_start(arguments, format);
  write_line(call->reply->message, format, arguments);
  va_end(arguments);
  return status;
}

/// Writes a warning, unless there is one of its class already.
static void write_warning(decoding *call, cdecoding_warning class, const char *format, va_list arguments) {
  char *into = call->reply->warnings[class];
  if (into[0] == '\0') write_line(into, format, arguments);
}

void decoding_warn(decoding *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_warning(call, CDECODING_WARNING_HARMLESS, format, arguments);
  va_end(arguments);
}

void decoding_find_damage(decoding *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_warning(call, CDECODING_WARNING_DAMAGED, format, arguments);
  va_end(arguments);
  bool is_tolerated = (call->request->fail_mask & 1u << CDECODING_WARNING_DAMAGED) == 0;
  if (!is_tolerated) decoding_fail(call, CDECODING_CORRUPT, "%s", call->reply->warnings[CDECODING_WARNING_DAMAGED]);
}

bool decoding_proceeds(decoding *call, double done) {
  if (call->input->proceed(call->input->context, done)) return true;
  decoding_fail(call, CDECODING_CANCELLED, "cancelled");
  return false;
}

bool decoding_read(decoding *call, uint64_t offset, uint8_t *into, size_t count) {
  for (size_t done = 0; done < count;) {
    ptrdiff_t taken = call->input->read(call->input->context, offset + done, into + done, count - done);
    if (taken < 0) {
      decoding_fail(call, CDECODING_READ_FAILED, "cannot be read");
      return false;
    }
    if (taken == 0) {
      decoding_fail(call, CDECODING_TRUNCATED, "the file ends too early");
      return false;
    }
    done += (size_t)taken;
  }
  return true;
}

bool decoding_expects_pixels(decoding *call, unsigned plane_count) {
  const cdecoding_request *request = call->request;
  bool fits = request->plane_count == plane_count;
  for (unsigned index = 0; fits && index < plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    fits = plane->width == request->width && plane->height == request->height &&
           plane->shrink_x == request->planes[0].shrink_x && plane->shrink_y == request->planes[0].shrink_y;
  }
  if (!fits) decoding_fail(call, CDECODING_BAD_CALL, "the picture's pixels do not fit the request's planes");
  return fits;
}

bool decoding_expects_profile(decoding *call) {
  const cdecoding_request *request = call->request;
  if (request->profile_offset <= call->memory_size &&
      request->profile_capacity <= call->memory_size - request->profile_offset) {
    return true;
  }
  decoding_fail(call, CDECODING_BAD_CALL, "the profile's place is outside the memory");
  return false;
}

void decoding_warn_of_profile(decoding *call) {
  unsigned long long capacity = call->request->profile_capacity;
  decoding_warn(call, "the colour profile is ignored because it has more than %llu bytes", capacity);
}

/// Whether a library is at work in this thread that crashes if it gets no memory.
static _Thread_local bool needs_memory;

bool cpictures_needs_memory(void) { return needs_memory; }

#ifdef THUMBJOB_FORMATS
/// Decodes with a library that does not check every allocation.
static void decode_carelessly(void (*decode)(decoding *call), decoding *call) {
  needs_memory = true;
  decode(call);
  needs_memory = false;
}
#endif

void cpictures_decode(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents,
    const cpictures_input *input, uint8_t *memory, size_t memory_size, cdecoding_reply *reply) {
  memset(reply, 0, sizeof *reply);
  decoding call = {
      .request = request,
      .tiles = tiles,
      .extents = extents,
      .input = input,
      .memory = memory,
      .memory_size = memory_size,
      .reply = reply,
  };
  switch (request->kind) {
#ifdef THUMBJOB_FORMATS
    case CDECODING_PNG: decode_png(&call); break;
    case CDECODING_GIF: decode_gif(&call); break;
    case CDECODING_WEBP: decode_webp(&call); break;
    case CDECODING_TIFF: decode_tiff(&call); break;
    case CDECODING_HEVC: decode_hevc(&call); break;
    case CDECODING_AV1: decode_av1(&call); break;
    case CDECODING_RASTER: decode_raster(&call); break;
    case CDECODING_PSD: decode_psd(&call); break;
    case CDECODING_JXL: decode_carelessly(decode_jxl, &call); break;
    case CDECODING_JP2: decode_carelessly(decode_jp2, &call); break;
#else
    case CDECODING_PNG:
    case CDECODING_GIF:
    case CDECODING_WEBP:
    case CDECODING_TIFF:
    case CDECODING_HEVC:
    case CDECODING_AV1:
    case CDECODING_RASTER:
    case CDECODING_PSD:
    case CDECODING_JXL:
    case CDECODING_JP2: decoding_fail(&call, CDECODING_UNSUPPORTED, "this thumbjob is built for JPEG alone"); break;
#endif
    case CDECODING_JPEG: decode_jpeg(&call); break;
    default: decoding_fail(&call, CDECODING_BAD_CALL, "no decoder has the number %d", (int)request->kind);
  }
}
