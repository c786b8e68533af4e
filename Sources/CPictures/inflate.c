#ifdef THUMBJOB_FORMATS
// zlib's interface for decompression, over ISA-L, which takes less than half of zlib's time. The linker finds these functions
// before those of zlib, so that libpng and libtiff call them.
//
// All functions that read or change the state of a stream must be here, because zlib's would read another state. Not
// here are `inflateBack` and `inflateCopy`, which neither library calls: a program that calls them does not link with a state
// of ISA-L by accident, because zlib checks that a state is its own.
//
// Source: zlib's manual; RFC 1950 (zlib), 2.2 "Data format".

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define METHOD_DEFLATE 8
#define HAS_DICTIONARY 0x20

struct internal_state {
  struct inflate_state isal;
  /// Whether the data have a header and a checksum of zlib.
  bool is_wrapped;
  /// How many bytes of the header have been read, and the first of them.
  unsigned header_bytes;
  uint8_t first_byte;
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

int inflateReset2(z_streamp stream, int window_bits) {
  if (!stream || !stream->state) return Z_STREAM_ERROR;
  bool is_raw = window_bits < 0;
  if (is_raw) window_bits = -window_bits;
  // Neither library reads gzip.
  if (window_bits != 0 && (window_bits < 8 || window_bits > MAX_WBITS)) return Z_STREAM_ERROR;
  struct internal_state *state = stream->state;
  isal_inflate_init(&state->isal);
  // The header is read here, because ISA-L would keep to the window that it names.
  state->isal.crc_flag = is_raw ? ISAL_DEFLATE : ISAL_ZLIB_NO_HDR_VER;
  state->is_wrapped = !is_raw;
  state->header_bytes = 0;
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
  stream->state = calloc(1, sizeof *stream->state);
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
  free(stream->state);
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
    case ISAL_INCORRECT_CHECKSUM: return "incorrect data check";
    default: return "invalid data";
  }
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
  if (isal->block_state == ISAL_BLOCK_FINISH) return Z_STREAM_END;
  if (state->withholds && stream->avail_in == 0) return Z_BUF_ERROR;
  uInt input = stream->avail_in, output = stream->avail_out;
  isal->next_in = stream->next_in + (state->withholds ? 1 : 0);
  isal->avail_in = input - (state->withholds ? 1 : 0);
  isal->next_out = stream->next_out;
  isal->avail_out = output;
  int status = isal_inflate(isal);
  uInt consumed = input - isal->avail_in, made = output - isal->avail_out;
  // ISA-L reads ahead of what it has room to write. The callers would ask for more input before they take the rest of the
  // output, and at the end there is none. So the last byte that was read counts as unread until then.
  bool may_have_more = status >= 0 && isal->block_state != ISAL_BLOCK_FINISH && isal->avail_out == 0;
  state->withholds = may_have_more && consumed == input && input > 0;
  if (state->withholds) consumed--;
  stream->next_in += consumed;
  stream->avail_in -= consumed;
  stream->total_in += consumed;
  stream->next_out += made;
  stream->avail_out -= made;
  stream->total_out += made;
  if (status < 0) return failed(stream, text(status));
  if (isal->block_state == ISAL_BLOCK_FINISH) return Z_STREAM_END;
  return flush == Z_FINISH || (stream->total_in == before && made == 0) ? Z_BUF_ERROR : Z_OK;
}

uLong crc32(uLong crc, const Bytef *bytes, uInt count) {
  return bytes ? crc32_gzip_refl((uint32_t)crc, bytes, count) : 0;
}
#endif
