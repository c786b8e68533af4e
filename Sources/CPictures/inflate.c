#ifdef THUMBJOB_FORMATS
// zlib's functions for decompression, over ISA-L: a PNG of 24 megapixels takes 0.7 of the processor time (2026-11-28). The
// loader finds these functions before those of zlib, so libpng and libtiff call them. These libraries pass such a stream to
// no other function of zlib. If one did, zlib would refuse the stream (Z_STREAM_ERROR). `crc32` is here because ISA-L's
// is faster, too.
//
// Source: zlib's manual; RFC 1950 (zlib), 2.2 "Data format".

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define METHOD_DEFLATE 8
#define HAS_DICTIONARY 0x20
#define TRAILER_SIZE 4

// ISA-L reads at most eight bytes ahead, and one may be withheld.
#define LONGEST_LOOK_AHEAD 9

struct internal_state {
  struct inflate_state isal;
  /// Whether the data have a header and a checksum of zlib. Both are read here, because ISA-L would keep to the window that
  /// the header names, and may read beyond the checksum.
  bool is_wrapped;
  /// How many bytes of the header have been read, and the first of them.
  unsigned header_bytes;
  uint8_t first_byte;
  /// How many bytes of the checksum have been read, and their value; the checksum of the output.
  unsigned trailer_bytes;
  uint32_t expected, adler;
  /// The last bytes that ISA-L has read, in their order. At the end of the data, some of them may belong to the checksum.
  uint8_t recent[LONGEST_LOOK_AHEAD];
  bool has_failed;
  /// Whether ISA-L has read the first byte of the input already.
  bool withholds;
};

static int failed(z_streamp stream, const char *message) {
  stream->state->has_failed = true;
  stream->msg = (char *)(uintptr_t)message;
  return Z_DATA_ERROR;
}

/// Reads one byte of the header: the method and the window, then flags and a check of both.
static int read_header_byte(z_streamp stream) {
  struct internal_state *state = stream->state;
  uint8_t byte = *stream->next_in++;
  stream->avail_in--;
  stream->total_in++;
  if (state->header_bytes++ == 0) {
    state->first_byte = byte;
    return Z_OK;
  }
  if ((state->first_byte << 8 | byte) % 31 != 0) return failed(stream, "incorrect header check");
  if ((state->first_byte & 15) != METHOD_DEFLATE) return failed(stream, "unknown compression method");
  // The size of the window does not count: all of it may be used, as with libpng's PNG_MAXIMUM_INFLATE_WINDOW.
  if (state->first_byte >> 4 > MAX_WBITS - 8) return failed(stream, "invalid window size");
  if (byte & HAS_DICTIONARY) return failed(stream, "a dictionary is needed");
  return Z_OK;
}

static void take_trailer(struct internal_state *state, uint8_t byte) {
  state->expected = state->expected << 8 | byte;
  state->trailer_bytes++;
}

/// Reads what there is of the checksum.
static int read_trailer(z_streamp stream) {
  struct internal_state *state = stream->state;
  while (state->trailer_bytes < TRAILER_SIZE) {
    if (stream->avail_in == 0) return Z_OK;
    take_trailer(state, *stream->next_in++);
    stream->avail_in--;
    stream->total_in++;
  }
  return state->expected == state->adler ? Z_STREAM_END : failed(stream, "incorrect data check");
}

int inflateReset2(z_streamp stream, int window_bits) {
  if (!stream || !stream->state) return Z_STREAM_ERROR;
  bool is_raw = window_bits < 0;
  if (is_raw) window_bits = -window_bits;
  // Neither library reads gzip.
  if (window_bits != 0 && (window_bits < 8 || window_bits > MAX_WBITS)) return Z_STREAM_ERROR;
  struct internal_state *state = stream->state;
  isal_inflate_init(&state->isal);
  state->isal.crc_flag = ISAL_DEFLATE;
  state->is_wrapped = !is_raw;
  state->header_bytes = state->trailer_bytes = 0;
  state->expected = 0;
  state->adler = 1;
  state->has_failed = state->withholds = false;
  stream->total_in = stream->total_out = 0;
  stream->msg = NULL;
  return Z_OK;
}

int inflateReset(z_streamp stream) {
  if (!stream || !stream->state) return Z_STREAM_ERROR;
  return inflateReset2(stream, stream->state->is_wrapped ? MAX_WBITS : -MAX_WBITS);
}

int inflateInit2_(z_streamp stream, int window_bits, const char *version, int size) {
  if (!version || version[0] != ZLIB_VERSION[0] || size != (int)sizeof(z_stream)) return Z_VERSION_ERROR;
  if (!stream) return Z_STREAM_ERROR;
  stream->msg = NULL;
  // libpng's own function notes that there is no memory.
  uInt bytes = sizeof *stream->state;
  stream->state = stream->zalloc ? stream->zalloc(stream->opaque, 1, bytes) : malloc(bytes);
  if (!stream->state) return Z_MEM_ERROR;
  int status = inflateReset2(stream, window_bits);
  if (status != Z_OK) inflateEnd(stream);
  return status;
}

int inflateInit_(z_streamp stream, const char *version, int size) {
  return inflateInit2_(stream, MAX_WBITS, version, size);
}

int inflateEnd(z_streamp stream) {
  if (!stream || !stream->state) return Z_STREAM_ERROR;
  if (stream->zfree) {
    stream->zfree(stream->opaque, stream->state);
  } else {
    free(stream->state);
  }
  stream->state = NULL;
  return Z_OK;
}

/// ISA-L always checks.
int inflateValidate(z_streamp stream, int check) {
  (void)check;
  return stream && stream->state ? Z_OK : Z_STREAM_ERROR;
}

/// libtiff asks to go on after an error. Neither ISA-L nor a row of a picture can.
int inflateSync(z_streamp stream) { return stream && stream->state ? Z_DATA_ERROR : Z_STREAM_ERROR; }

static const char *text(int status) {
  switch (status) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid code";
    case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
    default: return "invalid data";
  }
}

static void note_recent(struct internal_state *state, const uint8_t *bytes, size_t count) {
  if (count > LONGEST_LOOK_AHEAD) {
    bytes += count - LONGEST_LOOK_AHEAD;
    count = LONGEST_LOOK_AHEAD;
  }
  memmove(state->recent, state->recent + count, LONGEST_LOOK_AHEAD - count);
  memcpy(state->recent + LONGEST_LOOK_AHEAD - count, bytes, count);
}

/// Lets ISA-L go on, up to the end of the data, of the input or of the output.
static int inflate_more(z_streamp stream) {
  struct internal_state *state = stream->state;
  struct inflate_state *isal = &state->isal;
  if (state->withholds && stream->avail_in == 0) return Z_BUF_ERROR;
  uInt input = stream->avail_in, output = stream->avail_out, seen = state->withholds ? 1 : 0;
  isal->next_in = stream->next_in + seen;
  isal->avail_in = input - seen;
  isal->next_out = stream->next_out;
  isal->avail_out = output;
  int status = isal_inflate(isal);
  // At an error, ISA-L may have counted below zero.
  uInt unread = isal->avail_in < input - seen ? isal->avail_in : input - seen;
  // At the end of the data, ISA-L holds bytes that follow the data. They count as unread. Those of earlier calls can no
  // longer be given back, so the checksum is taken from them.
  if (isal->block_state == ISAL_BLOCK_FINISH && isal->read_in_length > 0) unread += (uInt)isal->read_in_length / 8;
  uInt left = unread < input ? unread : input;
  uInt earlier = unread - left;
  for (uInt back = earlier; state->is_wrapped && back > 0 && state->trailer_bytes < TRAILER_SIZE; back--) {
    if (back + seen <= LONGEST_LOOK_AHEAD) take_trailer(state, state->recent[LONGEST_LOOK_AHEAD - seen - back]);
  }
  uInt consumed = input - left, made = output - isal->avail_out;
  if (consumed > seen) note_recent(state, stream->next_in + seen, consumed - seen);
  // ISA-L reads ahead of what it has room to write. The callers would ask for more input before they take the rest of the
  // output, and at the end there is none. So the last byte that was read counts as unread until then.
  bool may_have_more = status >= 0 && isal->block_state != ISAL_BLOCK_FINISH && isal->avail_out == 0;
  state->withholds = may_have_more && consumed == input && input > 0;
  if (state->withholds) consumed--;
  if (state->is_wrapped) state->adler = isal_adler32(state->adler, stream->next_out, made);
  stream->next_in += consumed;
  stream->avail_in -= consumed;
  stream->total_in += consumed;
  stream->next_out += made;
  stream->avail_out -= made;
  stream->total_out += made;
  return status < 0 ? failed(stream, text(status)) : Z_OK;
}

int inflate(z_streamp stream, int flush) {
  if (!stream || !stream->state || (!stream->next_in && stream->avail_in > 0)) return Z_STREAM_ERROR;
  struct internal_state *state = stream->state;
  if (state->has_failed) return Z_DATA_ERROR;
  uLong before = stream->total_in;
  while (state->is_wrapped && state->header_bytes < 2) {
    if (stream->avail_in == 0) return stream->total_in > before ? Z_OK : Z_BUF_ERROR;
    int status = read_header_byte(stream);
    if (status != Z_OK) return status;
  }
  struct inflate_state *isal = &state->isal;
  uLong made_before = stream->total_out;
  int status = isal->block_state == ISAL_BLOCK_FINISH ? Z_OK : inflate_more(stream);
  if (status != Z_OK) return status;
  if (isal->block_state == ISAL_BLOCK_FINISH) {
    status = state->is_wrapped ? read_trailer(stream) : Z_STREAM_END;
    if (status != Z_OK) return status;
  }
  bool is_stuck = stream->total_in == before && stream->total_out == made_before;
  return flush == Z_FINISH || is_stuck ? Z_BUF_ERROR : Z_OK;
}

uLong crc32(uLong crc, const Bytef *bytes, uInt count) {
  return bytes ? crc32_gzip_refl((uint32_t)crc, bytes, count) : 0;
}
#endif
