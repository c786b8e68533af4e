#ifdef THUMBJOB_FORMATS
// How OpenJPEG reads the codestream, and what it says of it.
//
// Source: ISO/IEC 15444-1, A.4 (delimiting markers); OpenJPEG 2.5, openjpeg.h.

// For strcasestr().
#define _GNU_SOURCE

#include <errno.h>
#include <string.h>

#include "jp2.h"

enum {
  /// The bytes that OpenJPEG reads ahead.
  read_ahead = 64 << 10,
  /// The most bytes that are read before the caller is asked whether to go on.
  longest_read = 1 << 20,
  /// The size of a marker segment SOT with its marker.
  sot_size = 12,
};

enum { marker_soc = 0xFF4F, marker_sot = 0xFF90, marker_eoc = 0xFFD9 };

// MARK: What OpenJPEG says

/// Whether a text has these words, in any case of letters.
static bool says(const char *text, const char *words) { return strcasestr(text, words) != NULL; }

/// Remembers an error: the first, because the others say what has failed because of it.
static void take_error(const char *message, void *context) {
  jp2_reading *reading = context;
  if (errno == ENOMEM || says(message, "memory") || says(message, "allocat")) reading->is_out_of_memory = true;
  if (reading->message[0] != '\0') return;
  strncpy(reading->message, message, sizeof reading->message - 1);
}

static void take_warning(const char *message, void *context) {
  jp2_reading *reading = context;
  // Code blocks that end wrong, and packets that do not begin where the codestream says.
  static const char *const damages[] = {"Bad segmentation symbol", "PTERM check failure", "malformed", "Expected SOP"};
  for (size_t index = 0; index < sizeof damages / sizeof *damages; index++) {
    if (!says(message, damages[index])) continue;
    decoding_find_damage(reading->call, "%s", message);
    return;
  }
  decoding_warn(reading->call, "%s", message);
}

void jp2_fail(jp2_reading *reading) {
  decoding *call = reading->call;
  const char *message = reading->message[0] == '\0' ? "the data breaks the format" : reading->message;
  // It says so only of some allocations. All set errno, and nothing is read after one has failed.
  if (reading->is_out_of_memory || errno == ENOMEM) {
    decoding_fail(call, CDECODING_NO_MEMORY, "OpenJPEG needs more memory");
  } else if (reading->has_ended || says(message, "inconsistent with stream length")) {
    decoding_fail(call, CDECODING_TRUNCATED, "the data ends before the picture does");
  } else if (says(message, "support") || says(message, "resolution")) {
    decoding_fail(call, CDECODING_UNSUPPORTED, "%s", message);
  } else {
    decoding_fail(call, CDECODING_DAMAGED, "%s", message);
  }
}

bool jp2_fail_for_memory(jp2_reading *reading) {
  decoding_fail(reading->call, CDECODING_NO_MEMORY, "out of memory");
  return false;
}

bool jp2_fail_as_damaged(jp2_reading *reading, const char *reason) {
  decoding_fail(reading->call, CDECODING_DAMAGED, "%s", reason);
  return false;
}

// MARK: The codestream

/// The bytes that OpenJPEG finds, with the marker that is added.
static uint64_t readable_size(const jp2_reading *reading) {
  return reading->codestream.size + (reading->lacks_end ? 2 : 0);
}

/// Called by OpenJPEG. -1 ends the stream.
static OPJ_SIZE_T read_bytes(void *into, OPJ_SIZE_T count, void *context) {
  jp2_reading *reading = context;
  decoding *call = reading->call;
  const OPJ_SIZE_T end = (OPJ_SIZE_T)-1;
  uint64_t size = reading->codestream.size;
  if (reading->position >= readable_size(reading) || count == 0) {
    reading->has_ended = true;
    return end;
  }
  if (reading->position >= size) {
    *(uint8_t *)into = (uint8_t)(reading->position == size ? marker_eoc >> 8 : marker_eoc & 0xFF);
    reading->position++;
    return 1;
  }
  if (call->reply->status != CDECODING_OK || !decoding_proceeds(call, reading->done)) return end;
  if (count > size - reading->position) count = (OPJ_SIZE_T)(size - reading->position);
  if (count > longest_read) count = longest_read;
  int error = errno;
  ptrdiff_t taken = call->input->read(call->input->context, reading->codestream.offset + reading->position, into, count);
  errno = error;
  if (taken < 0) {
    decoding_fail(call, CDECODING_READ_FAILED, "cannot be read");
    return end;
  }
  if (taken == 0) {
    decoding_fail(call, CDECODING_TRUNCATED, "the file ends too early");
    return end;
  }
  reading->position += (uint64_t)taken;
  return (OPJ_SIZE_T)taken;
}

static OPJ_BOOL seek(OPJ_OFF_T offset, void *context) {
  jp2_reading *reading = context;
  if (offset < 0 || (uint64_t)offset > readable_size(reading)) return OPJ_FALSE;
  reading->position = (uint64_t)offset;
  // OpenJPEG looks ahead to the end, and comes back.
  reading->has_ended = false;
  return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *context) {
  jp2_reading *reading = context;
  if (count < 0 || (uint64_t)count > readable_size(reading) - reading->position) return -1;
  reading->position += (uint64_t)count;
  return count;
}

/// Reads bytes of the codestream, which must be there.
static bool read_at(jp2_reading *reading, uint64_t position, uint8_t *into, size_t count) {
  return decoding_read(reading->call, reading->codestream.offset + position, into, count);
}

/// The position of the first tile-part; the codestream's size if there is none. False if the call has failed.
static bool find_tiles(jp2_reading *reading, uint64_t *position) {
  uint64_t size = reading->codestream.size;
  *position = 2;
  for (unsigned steps = 1; size - *position >= 4; steps++) {
    uint8_t head[4];
    if (steps % jp2_steps_between_checks == 0 && !decoding_proceeds(reading->call, 0)) return false;
    if (!read_at(reading, *position, head, sizeof head)) return false;
    if (decoding_number(head, 2) == marker_sot) return true;
    uint64_t length = 2 + (uint64_t)decoding_number(head + 2, 2);
    if (length > size - *position) break;
    *position += length;
  }
  *position = size;
  return true;
}

bool jp2_check_end(jp2_reading *reading) {
  uint64_t size = reading->codestream.size;
  uint8_t head[sot_size];
  if (size < 4) {
    decoding_fail(reading->call, CDECODING_TRUNCATED, "the codestream ends too early");
    return false;
  }
  if (!read_at(reading, 0, head, 2)) return false;
  if (decoding_number(head, 2) != marker_soc) return jp2_fail_as_damaged(reading, "the codestream does not begin as one");
  if (!read_at(reading, size - 2, head, 2)) return false;
  if (decoding_number(head, 2) == marker_eoc) return true;
  uint64_t position;
  if (!find_tiles(reading, &position)) return false;
  bool is_cut = position == size;
  for (unsigned steps = 1; !is_cut && position < size; steps++) {
    if (steps % jp2_steps_between_checks == 0 && !decoding_proceeds(reading->call, 0)) return false;
    if (size - position < 2) break;
    if (!read_at(reading, position, head, 2)) return false;
    if (decoding_number(head, 2) == marker_eoc) return true;
    // OpenJPEG judges what is neither.
    if (decoding_number(head, 2) != marker_sot) return true;
    is_cut = size - position < sot_size;
    if (is_cut || !read_at(reading, position, head, sot_size)) break;
    // The last tile-part may leave its length open. Then only the marker would show that it is whole.
    uint64_t length = decoding_number(head + 6, 4);
    is_cut = length == 0 || length > size - position;
    if (length < sot_size) break;
    position += length;
  }
  if (reading->call->reply->status != CDECODING_OK) return false;
  if (is_cut) {
    decoding_fail(reading->call, CDECODING_TRUNCATED, "the data ends before the picture does");
    return false;
  }
  reading->lacks_end = true;
  decoding_warn(reading->call, "the codestream ends without its last marker");
  return true;
}

bool jp2_open(jp2_reading *reading) {
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  reading->codec = opj_create_decompress(OPJ_CODEC_J2K);
  reading->stream = opj_stream_create(read_ahead, OPJ_TRUE);
  if (!reading->codec || !reading->stream) return jp2_fail_for_memory(reading);
  opj_set_error_handler(reading->codec, take_error, reading);
  opj_set_warning_handler(reading->codec, take_warning, reading);
  opj_stream_set_user_data(reading->stream, reading, NULL);
  opj_stream_set_user_data_length(reading->stream, readable_size(reading));
  opj_stream_set_read_function(reading->stream, read_bytes);
  opj_stream_set_seek_function(reading->stream, seek);
  opj_stream_set_skip_function(reading->stream, skip);
  if (opj_setup_decoder(reading->codec, &parameters) &&
      opj_read_header(reading->stream, reading->codec, &reading->image) && reading->image &&
      // Only now, because OpenJPEG would round the sizes of components wrong if they do not begin at 0.
      opj_set_decoded_resolution_factor(reading->codec, reading->call->request->discarded_levels)) {
    return true;
  }
  jp2_fail(reading);
  return false;
}
#endif
