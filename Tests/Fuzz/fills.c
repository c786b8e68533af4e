#include "fills.h"

#ifndef DECODES_TWICE

void fuzz_set_fill(fuzz_fill fill) { (void)fill; }

void fuzz_decode(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents,
    const cdecoding_input *input, int *calls, uint8_t *planes, size_t size, cdecoding_reply *reply) {
  (void)calls;
  cpictures_decode(request, tiles, extents, input, planes, size, reply);
}

#else

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static fuzz_fill current_fill;

void fuzz_set_fill(fuzz_fill fill) { current_fill = fill; }

static void fill(uint8_t *memory, size_t size) {
  switch (current_fill) {
    case FUZZ_PATTERN: cpictures_fill(memory, size); break;
    case FUZZ_BYTE: memset(memory, 0x5A, size); break;
  }
}

static void *filled(void *memory, size_t from) {
  if (memory == NULL) return NULL;
  size_t size = malloc_usable_size(memory);
  if (size > from) fill((uint8_t *)memory + from, size - from);
  return memory;
}

// All memory is filled, and so resident. A decoder process, whose memory is limited, would not get more at once either.
static const size_t most_bytes = 256 << 20;

static bool is_too_much(size_t size) {
  if (size > most_bytes) errno = ENOMEM;
  return size > most_bytes;
}

// These take the place of the C library's, for all libraries.

void *malloc(size_t size) { return is_too_much(size) ? NULL : filled(__libc_malloc(size), 0); }

void *realloc(void *memory, size_t size) {
  if (is_too_much(size)) return NULL;
  size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
  return filled(__libc_realloc(memory, size), before);
}

void *memalign(size_t alignment, size_t size) {
  return is_too_much(size) ? NULL : filled(__libc_memalign(alignment, size), 0);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory == NULL ? ENOMEM : 0;
}

void fuzz_decode(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents,
    const cdecoding_input *input, int *calls, uint8_t *planes, size_t size, cdecoding_reply *reply) {
  fuzz_set_fill(FUZZ_PATTERN);
  fill(planes, size);
  cpictures_decode(request, tiles, extents, input, planes, size, reply);
  // A decoder that has noticed that something is missing gives no picture.
  if (reply->status != CDECODING_OK) return;
  int calls_before = *calls;
  fuzz_set_fill(FUZZ_BYTE);
  uint8_t *again = malloc(size);
  if (again == NULL) abort();
  *calls = 0;
  cdecoding_reply second;
  cpictures_decode(request, tiles, extents, input, again, size, &second);
  fuzz_set_fill(FUZZ_PATTERN);
  *calls = calls_before;
  // The memory for a profile is last, and has as much as the file has.
  size_t compared = size - (size_t)(request->profile_capacity - reply->profile_size);
  if (second.status != CDECODING_OK || second.profile_size != reply->profile_size || memcmp(planes, again, compared) != 0) {
    size_t place = 0;
    while (place < compared && planes[place] == again[place]) place++;
    fprintf(stderr, "two decodings differ: status %d \"%s\", byte %zu of %zu\n", second.status, second.message, place, compared);
    abort();
  }
  free(again);
}

#endif
