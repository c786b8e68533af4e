#ifdef THUMBJOB_FORMATS
// Source: TIFF 6.0, section 13 (LZW); TIFF Technical Note 3 and RFC 1950 (Deflate).

#include "tiff_stream.h"

#include <string.h>

enum {
  clear_code = 256,
  end_code = 257,
  first_string = 258,
  shortest_width = 9,
  longest_width = 12,
  no_code = tiff_stream_codes,
};

static bool has_too_few(tiff_stream *stream) {
  decoding_fail(stream->call, CDECODING_DAMAGED, "a strip has too few samples");
  return false;
}

/// Reads the next piece of the strip. Returns false at its end too.
static bool read_piece(tiff_stream *stream) {
  size_t wanted = stream->remaining < tiff_stream_piece ? (size_t)stream->remaining : tiff_stream_piece;
  if (wanted == 0 || !decoding_read(stream->call, stream->offset, stream->piece, wanted)) return false;
  stream->offset += wanted;
  stream->remaining -= wanted;
  stream->start = 0;
  stream->end = wanted;
  return true;
}

// MARK: LZW

static void forget_strings(tiff_stream *stream) {
  stream->width = shortest_width;
  stream->next = first_string;
  stream->previous = no_code;
}

/// The next code; `end_code` where the strip ends without one.
static unsigned take_code(tiff_stream *stream) {
  while (stream->bits < stream->width) {
    if (stream->end - stream->start >= 4) {
      const uint8_t *next = stream->piece + stream->start;
      uint32_t word = (uint32_t)next[0] << 24 | (uint32_t)next[1] << 16 | (uint32_t)next[2] << 8 | next[3];
      stream->window = stream->window << 32 | word;
      stream->bits += 32;
      stream->start += 4;
      break;
    }
    if (stream->start == stream->end && !read_piece(stream)) return end_code;
    stream->window = stream->window << 8 | stream->piece[stream->start++];
    stream->bits += 8;
  }
  stream->bits -= stream->width;
  return (unsigned)(stream->window >> stream->bits) & ((1u << stream->width) - 1);
}

/// A byte at a place from 0 to 7 of a string's part.
static inline uint64_t byte_of_part(uint8_t byte, size_t place) {
  bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  return (uint64_t)byte << 8 * (is_little ? place : tiff_string_part - 1 - place);
}

static void define_string(tiff_stream *stream, unsigned code) {
  if (stream->next == tiff_stream_codes) return;
  const tiff_string *previous = &stream->strings[stream->previous];
  tiff_string string = *previous;
  size_t place = string.length % tiff_string_part;
  if (place == 0) {
    string.prefix = (uint16_t)stream->previous;
    string.part = 0;
  }
  // A code that is being defined begins like the one before it.
  string.part |= byte_of_part(code == stream->next ? string.first : stream->strings[code].first, place);
  string.length++;
  stream->strings[stream->next] = string;
  stream->next++;
  // Codes become longer one earlier than they would have to.
  if (stream->next + 1 == 1u << stream->width && stream->width < longest_width) stream->width++;
}

/// Writes a string, and up to 7 bytes more after it.
static void write_string(const tiff_stream *stream, unsigned code, uint8_t *into) {
  const tiff_string *string = &stream->strings[code];
  size_t place = (size_t)(string->length - 1) / tiff_string_part * tiff_string_part;
  memcpy(into + place, &string->part, tiff_string_part);
  while (place > 0) {
    string = &stream->strings[string->prefix];
    place -= tiff_string_part;
    memcpy(into + place, &string->part, tiff_string_part);
  }
}

static bool read_lzw(tiff_stream *stream, uint8_t *into, size_t count) {
  while (count > 0) {
    size_t there = stream->string_end - stream->string_start;
    if (there > 0) {
      if (there > count) there = count;
      memcpy(into, stream->string + stream->string_start, there);
      stream->string_start += there;
      into += there;
      count -= there;
      continue;
    }
    unsigned code = take_code(stream);
    if (code == end_code) return has_too_few(stream);
    if (code == clear_code) {
      forget_strings(stream);
      continue;
    }
    if (stream->previous != no_code && code <= stream->next) define_string(stream, code);
    if (code >= stream->next || (stream->previous == no_code && code > clear_code)) {
      decoding_fail(stream->call, CDECODING_DAMAGED, "a strip uses a code that is not defined");
      return false;
    }
    stream->previous = code;
    size_t length = stream->strings[code].length;
    if (length + tiff_string_part <= count) {
      write_string(stream, code, into);
      into += length;
      count -= length;
    } else {
      write_string(stream, code, stream->string);
      stream->string_start = 0;
      stream->string_end = length;
    }
  }
  return true;
}

// MARK: Deflate

static bool inflate_rows(tiff_stream *stream, uint8_t *into, size_t count) {
  z_stream *inflation = &stream->inflation;
  while (count > 0) {
    // There may be samples of what has been read already.
    bool is_at_end = stream->start == stream->end && !read_piece(stream);
    unsigned there = (unsigned)(stream->end - stream->start);
    // Bands of rows are shorter than this.
    unsigned room = count < 1u << 30 ? (unsigned)count : 1u << 30;
    inflation->next_in = stream->piece + stream->start;
    inflation->avail_in = there;
    inflation->next_out = into;
    inflation->avail_out = room;
    int result = inflate(inflation, Z_NO_FLUSH);
    stream->start += there - inflation->avail_in;
    into += room - inflation->avail_out;
    count -= room - inflation->avail_out;
    if (result == Z_MEM_ERROR) decoding_fail(stream->call, CDECODING_NO_MEMORY, "no memory to inflate a strip");
    if (count > 0 && (result == Z_STREAM_END || (result == Z_BUF_ERROR && is_at_end))) return has_too_few(stream);
    if (result != Z_OK && result != Z_STREAM_END) {
      const char *reason = inflation->msg ? inflation->msg : "a strip breaks its format";
      decoding_fail(stream->call, CDECODING_DAMAGED, "%s", reason);
      return false;
    }
  }
  return true;
}

// MARK: Both

bool tiff_stream_begin(tiff_stream *stream, uint64_t offset, uint64_t size) {
  stream->offset = offset;
  stream->remaining = size;
  stream->start = stream->end = 0;
  stream->string_start = stream->string_end = 0;
  if (stream->is_lzw) {
    stream->bits = 0;
    for (unsigned byte = 0; byte < clear_code; byte++) {
      stream->strings[byte] = (tiff_string){.part = byte_of_part((uint8_t)byte, 0), .length = 1, .first = (uint8_t)byte};
    }
    forget_strings(stream);
    // Nothing is defined before the first Clear code, with which a strip begins.
    stream->next = 0;
    return true;
  }
  int result = stream->is_inflating ? inflateReset(&stream->inflation) : inflateInit(&stream->inflation);
  stream->is_inflating = stream->is_inflating || result == Z_OK;
  if (result != Z_OK) decoding_fail(stream->call, CDECODING_NO_MEMORY, "no memory to inflate a strip");
  return result == Z_OK;
}

bool tiff_stream_read(tiff_stream *stream, uint8_t *into, size_t count) {
  return stream->is_lzw ? read_lzw(stream, into, count) : inflate_rows(stream, into, count);
}

void tiff_stream_end(tiff_stream *stream) {
  if (stream->is_inflating) inflateEnd(&stream->inflation);
  stream->is_inflating = false;
}
#endif
