// JPEG files that have faults, or that may have made an earlier run die. CLibJPEG decodes them at a reduced scale, so their
// planes are as it makes them.

#include "decoding.h"

#include "clibjpeg.h"

#include <string.h>

/// The call, and whether it may go on. libjpeg asks without telling how far it is: bytes read tell.
typedef struct jpeg_source {
  decoding *call;
  cdecoding_extent extent;
  uint64_t furthest;
} jpeg_source;

static ptrdiff_t read_part(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  jpeg_source *source = context;
  if (offset >= source->extent.size) return 0;
  uint64_t left = source->extent.size - offset;
  if (offset > source->furthest) source->furthest = offset;
  const cdecoding_input *input = source->call->input;
  return input->read(input->context, source->extent.offset + offset, into, capacity < left ? capacity : (size_t)left);
}

static bool is_cancelled(void *context) {
  jpeg_source *source = context;
  return !decoding_proceeds(source->call, (double)source->furthest / (double)source->extent.size);
}

static cdecoding_status status_of(clibjpeg_status status) {
  switch (status) {
    case CLIBJPEG_OK: return CDECODING_OK;
    case CLIBJPEG_CANCELLED: return CDECODING_CANCELLED;
    case CLIBJPEG_READ_FAILED: return CDECODING_READ_FAILED;
    case CLIBJPEG_TRUNCATED: return CDECODING_TRUNCATED;
    case CLIBJPEG_CORRUPT: return CDECODING_CORRUPT;
    case CLIBJPEG_WARNED: return CDECODING_IMPERFECT;
    case CLIBJPEG_UNSUPPORTED: return CDECODING_UNSUPPORTED;
    case CLIBJPEG_TOO_MANY_SCANS: return CDECODING_TOO_MANY_SCANS;
    case CLIBJPEG_NO_MEMORY: return CDECODING_NO_MEMORY;
    case CLIBJPEG_BAD_CALL: return CDECODING_BAD_CALL;
    case CLIBJPEG_DAMAGED: return CDECODING_DAMAGED;
  }
  return CDECODING_DAMAGED;
}

/// Where the planes are. Returns false if they are outside the memory, or are not as large as libjpeg needs them.
static bool find_planes(
    decoding *call, uint32_t count, const clibjpeg_plane_layout *layouts, clibjpeg_plane planes[CLIBJPEG_MAX_COMPONENTS]) {
  _Static_assert(CLIBJPEG_MAX_COMPONENTS <= CDECODING_MAX_COMPONENTS, "each component has a plane in the request");
  if (call->request->plane_count != count) return false;
  memset(planes, 0, CLIBJPEG_MAX_COMPONENTS * sizeof *planes);
  for (uint32_t index = 0; index < count; index++) {
    const cdecoding_plane *plane = &call->request->planes[index];
    uint64_t size = (uint64_t)plane->columns * plane->rows;
    if (plane->columns != layouts[index].min_stride || plane->rows != layouts[index].min_rows ||
        size > call->memory_size || plane->offset > call->memory_size - size) {
      return false;
    }
    planes[index] = (clibjpeg_plane){.data = call->memory + plane->offset, .stride = plane->columns, .rows = plane->rows};
  }
  return true;
}

static clibjpeg_status decode(decoding *call, clibjpeg_decoder *decoder) {
  clibjpeg_header header;
  clibjpeg_status status = clibjpeg_decoder_read_header(decoder, call->request->fail_mask, true, &header);
  if (status != CLIBJPEG_OK) return status;
  if (header.width != call->request->width || header.height != call->request->height) {
    decoding_fail(call, CDECODING_DAMAGED, "its size has changed");
    return CLIBJPEG_DAMAGED;
  }
  clibjpeg_plane_layout layouts[CLIBJPEG_MAX_COMPONENTS];
  status = clibjpeg_decoder_set_scale(decoder, call->request->denominator, layouts);
  if (status != CLIBJPEG_OK) return status;
  clibjpeg_plane planes[CLIBJPEG_MAX_COMPONENTS];
  if (!find_planes(call, (uint32_t)header.components, layouts, planes)) return CLIBJPEG_BAD_CALL;
  return clibjpeg_decoder_decode(decoder, false, planes);
}

void decode_jpeg(decoding *call) {
  if (call->request->extent_count != 1 || call->extents[0].size == 0) {
    decoding_fail(call, CDECODING_BAD_CALL, "a JPEG has one extent");
    return;
  }
  jpeg_source source = {.call = call, .extent = call->extents[0]};
  clibjpeg_input input = {.context = &source, .read = read_part, .cancelled = is_cancelled};
  clibjpeg_decoder *decoder = clibjpeg_decoder_create(&input);
  if (!decoder) {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for a decoder");
    return;
  }
  clibjpeg_status status = decode(call, decoder);
  if (status != CLIBJPEG_OK) {
    decoding_fail(call, status_of(status), "%s", clibjpeg_decoder_message(decoder));
  } else {
    _Static_assert((int)CLIBJPEG_WARNING_CLASSES == CDECODING_MAX_WARNINGS, "each class has a place in the reply");
    _Static_assert((int)CLIBJPEG_WARNING_DAMAGED == (int)CDECODING_WARNING_DAMAGED, "and the same number");
    for (int warning = 0; warning < CLIBJPEG_WARNING_CLASSES; warning++) {
      const char *text = clibjpeg_decoder_warning_message(decoder, (clibjpeg_warning)warning);
      strncpy(call->reply->warnings[warning], text, CDECODING_MESSAGE_SIZE - 1);
    }
  }
  clibjpeg_decoder_destroy(decoder);
}
