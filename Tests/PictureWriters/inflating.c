#if defined(THUMBJOB_FORMATS) && defined(__linux__)
#define _GNU_SOURCE
#include "inflating.h"

#include <dlfcn.h>
#include <zlib.h>

typedef struct functions {
  int (*init)(z_streamp, const char *, int);
  int (*inflate)(z_streamp, int);
  int (*end)(z_streamp);
} functions;

size_t deflate_bytes(const uint8_t *bytes, size_t size, int level, uint8_t *into, size_t capacity) {
  uLongf written = capacity;
  return compress2(into, &written, bytes, size, level) == Z_OK ? written : 0;
}

static bool find(functions *found, bool by_zlib) {
  if (!by_zlib) {
    *found = (functions){inflateInit_, inflate, inflateEnd};
    return true;
  }
  // In a namespace of its own, where zlib's functions do not find the others of these names.
  static void *library;
  if (!library) library = dlmopen(LM_ID_NEWLM, "libz.so.1", RTLD_NOW);
  if (!library) return false;
  found->init = (int (*)(z_streamp, const char *, int))dlsym(library, "inflateInit_");
  found->inflate = (int (*)(z_streamp, int))dlsym(library, "inflate");
  found->end = (int (*)(z_streamp))dlsym(library, "inflateEnd");
  return found->init && found->inflate && found->end && found->inflate != inflate;
}

inflate_result inflate_bytes(
    const uint8_t *bytes, size_t size, size_t input_step, size_t output_step, uint8_t *into, size_t capacity,
    bool by_zlib) {
  inflate_result result = {INFLATE_IMPOSSIBLE, 0, 0};
  functions call;
  z_stream stream = {0};
  if (!find(&call, by_zlib) || call.init(&stream, ZLIB_VERSION, sizeof stream) != Z_OK) return result;
  size_t given = 0;
  int status = Z_OK;
  result.end = INFLATE_FULL;
  while (result.made < capacity && status == Z_OK) {
    size_t room = capacity - result.made < output_step ? capacity - result.made : output_step;
    stream.next_out = into + result.made;
    stream.avail_out = (uInt)room;
    // As libpng does, which asks for the next chunk first.
    while (stream.avail_out > 0 && status == Z_OK) {
      if (stream.avail_in == 0) {
        if (given == size) {
          result.end = INFLATE_STARVED;
          status = Z_BUF_ERROR;
          break;
        }
        size_t piece = size - given < input_step ? size - given : input_step;
        stream.next_in = (Bytef *)(uintptr_t)(bytes + given);
        stream.avail_in = (uInt)piece;
        given += piece;
      }
      status = call.inflate(&stream, Z_NO_FLUSH);
    }
    result.made += room - stream.avail_out;
  }
  result.read = given - stream.avail_in;
  if (status == Z_STREAM_END) result.end = INFLATE_ENDED;
  if (status == Z_DATA_ERROR) result.end = INFLATE_DAMAGED;
  call.end(&stream);
  return result;
}
#endif
