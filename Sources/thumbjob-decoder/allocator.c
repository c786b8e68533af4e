// The allocator of this program: that of the C library, but with memory that is filled before a library gets it. So no picture
// has anything of the picture before it, and samples that a library has not written are found (unwritten.h).
//
// A mallopt(3) of M_PERTURB would not do: it passes over the memory that a thread has just freed, and its pattern is one
// byte, which is a shade of grey.

#if defined(__linux__)

#include "cfence.h"
#include "cpictures.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// A sanitizer has an allocator of its own, which fills memory too. Other C libraries than glibc lack the functions below.
#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#pragma clang assume_nonnull begin

extern void *_Nullable __libc_malloc(size_t size);
extern void *_Nullable __libc_calloc(size_t count, size_t size);
extern void *_Nullable __libc_realloc(void *_Nullable memory, size_t size);
extern void *_Nullable __libc_memalign(size_t alignment, size_t size);

/// Whether the kernel has mapped a block for itself, with pages of zeros. glibc keeps that in the word before the block.
static bool is_mapped(const void *memory) { return ((const size_t *)memory)[-1] & 2; }

/// Ends the process after a failed allocation that a library would not survive.
static void check(const void *_Nullable memory, size_t size) {
  if (!memory && size > 0 && cpictures_needs_memory()) cfence_out_of_memory();
}

/// Fills a block that the allocator had before. A mapped one has nothing of other pictures. Libraries use only parts of some of
/// these, which are large, and to fill them would take memory.
static void *_Nullable filled_unless_mapped(void *_Nullable memory, size_t size) {
  check(memory, size);
  if (memory && !is_mapped(memory)) cpictures_fill(memory, malloc_usable_size(memory));
  return memory;
}

// free(3) stays that of the C library.

void *_Nullable malloc(size_t size) { return filled_unless_mapped(__libc_malloc(size), size); }

void *_Nullable calloc(size_t count, size_t size) {
  void *memory = __libc_calloc(count, size);
  check(memory, count > 0 ? size : 0);
  return memory;
}

void *_Nullable realloc(void *_Nullable memory, size_t size) {
  size_t before = memory ? malloc_usable_size(memory) : 0;
  uint8_t *moved = __libc_realloc(memory, size);
  check(moved, size);
  if (!moved || is_mapped(moved)) return moved;
  size_t now = malloc_usable_size(moved);
  if (now > before) cpictures_fill(moved + before, now - before);
  return moved;
}

/// The alignment of libde265's planes. Only that library leaves samples unwritten, and it writes all others, so that to fill
/// these blocks in any case takes no memory.
#define PLANE_ALIGNMENT 16

void *_Nullable memalign(size_t alignment, size_t size) {
  void *memory = __libc_memalign(alignment, size);
  if (alignment != PLANE_ALIGNMENT) return filled_unless_mapped(memory, size);
  if (memory) cpictures_fill(memory, malloc_usable_size(memory));
  return memory;
}

void *_Nullable aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void *_Nullable *memory, size_t alignment, size_t size) {
  if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *found = memalign(alignment, size);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

void *_Nullable valloc(size_t size) { return memalign((size_t)sysconf(_SC_PAGESIZE), size); }

#pragma clang assume_nonnull end

#endif
#endif
