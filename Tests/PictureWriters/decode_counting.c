#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "picture_writers.h"

typedef struct bytes_in_memory {
  const uint8_t *bytes;
  size_t size;
  size_t *peak;
} bytes_in_memory;

/// The bytes that are allocated. Only a process with one thread can tell what they are for.
static size_t allocated(void) {
  struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

static void note_peak(const bytes_in_memory *input) {
  size_t now = allocated();
  if (now > *input->peak) *input->peak = now;
}

static ptrdiff_t read_bytes(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  const bytes_in_memory *input = context;
  note_peak(input);
  if (offset >= input->size) return 0;
  size_t count = input->size - (size_t)offset;
  if (count > capacity) count = capacity;
  memcpy(into, input->bytes + offset, count);
  return (ptrdiff_t)count;
}

static bool go_on(void *context, double done) {
  (void)done;
  note_peak(context);
  return true;
}

bool counts_memory(void) {
  void *block = malloc(1);
  struct mallinfo2 now = mallinfo2();
  free(block);
  return now.uordblks > 0;
}

size_t decode_counting(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents, const uint8_t *bytes,
    size_t size, size_t memory_size, cdecoding_reply *reply) {
  memset(reply, 0, sizeof *reply);
  reply->status = CDECODING_BAD_CALL;
  typedef struct result {
    cdecoding_reply reply;
    size_t peak;
  } result;
  size_t shared_size = sizeof(result) + memory_size;
  uint8_t *shared = mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 0;
  result *found = (result *)(void *)shared;
  pid_t child = fork();
  if (child == 0) {
    size_t before = allocated();
    bytes_in_memory source = {bytes, size, &found->peak};
    cpictures_input input = {&source, size, read_bytes, go_on};
    cpictures_decode(request, tiles, extents, &input, shared + sizeof(result), memory_size, &found->reply);
    found->peak = found->peak > before ? found->peak - before : 0;
    _exit(0);
  }
  size_t peak = 0;
  int status = 1;
  if (child > 0 && waitpid(child, &status, 0) == child && status == 0) {
    *reply = found->reply;
    peak = found->peak;
  }
  munmap(shared, shared_size);
  return peak;
}
