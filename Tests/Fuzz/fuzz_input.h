// The bytes that a fuzz target in C reads as a file.

#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  const uint8_t *bytes;
  size_t size;
  /// How often the decoder has asked whether to go on.
  int calls;
} fuzz_input;

static inline ptrdiff_t fuzz_read(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  const fuzz_input *input = context;
  if (offset >= input->size) return 0;
  size_t count = input->size - (size_t)offset;
  if (count > capacity) count = capacity;
  memcpy(into, input->bytes + offset, count);
  return (ptrdiff_t)count;
}

#endif
