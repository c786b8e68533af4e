// decoding-memory KIND WIDTH HEIGHT PLANES PROFILE DIRECTORY FILE [OFFSET SIZE]: prints how many bytes of heap decoding a
// picture takes at most, besides the planes. KIND is a number of cdecoding_kind; PROFILE is the capacity for the profile;
// DIRECTORY is the offset of a TIFF page's directory; OFFSET and SIZE say where a WebP file's only chunk is. The picture
// becomes as small as can be, so that the sums count for little. Tests compare the figure with
// `PictureHeader.workingBytes`.

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cpictures.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(__GLIBC__)

// The sanitizers have an allocator of their own.
int main(void) { return 77; }

#else

static size_t held, most;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static void *counted(void *block) {
  if (block != NULL) held += malloc_usable_size(block);
  if (held > most) most = held;
  return block;
}

// These take the place of the C library's, in all libraries of this process. It has one thread.
void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size) {
  if (block != NULL) held -= malloc_usable_size(block);
  return counted(__libc_realloc(block, size));
}

void free(void *block) {
  if (block != NULL) held -= malloc_usable_size(block);
  __libc_free(block);
}

static int file;

static ptrdiff_t read_file(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  (void)context;
  return pread(file, into, capacity, (off_t)offset);
}

static bool proceed(void *context, double done) {
  (void)context;
  return done <= 1;
}

int main(int count, char **arguments) {
  if (count != 8 && count != 10) return 64;
  struct stat status;
  file = open(arguments[7], O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &status) != 0) return 66;
  uint32_t numbers[5];
  for (int index = 0; index < 5; index++) numbers[index] = (uint32_t)strtoul(arguments[index + 1], NULL, 10);
  cdecoding_request request = {
      .kind = (cdecoding_kind)numbers[0], .width = numbers[1], .height = numbers[2], .plane_count = numbers[3],
      .start = strtoull(arguments[6], NULL, 10)};
  request.scaled_width = request.width;
  request.scaled_height = request.height;
  cdecoding_extent extent = {0};
  cdecoding_tile tile = {.width = request.width, .height = request.height, .extent_count = 1};
  if (count == 10) {
    extent = (cdecoding_extent){strtoull(arguments[8], NULL, 10), strtoull(arguments[9], NULL, 10)};
    request.tile_count = request.extent_count = 1;
  }
  size_t size = 0;
  for (uint32_t index = 0; index < request.plane_count && index < CDECODING_MAX_COMPONENTS; index++) {
    cdecoding_plane *plane = &request.planes[index];
    *plane = (cdecoding_plane){
        .width = request.width, .height = request.height, .shrink_x = CDECODING_MAX_SHRINK,
        .shrink_y = CDECODING_MAX_SHRINK, .columns = (request.width - 1) / CDECODING_MAX_SHRINK + 1,
        .rows = (request.height - 1) / CDECODING_MAX_SHRINK + 1, .high = 255, .offset = size};
    size += (size_t)plane->columns * plane->rows;
  }
  request.profile_offset = size;
  request.profile_capacity = numbers[4];
  size += numbers[4];
  uint8_t *memory = malloc(size);
  if (memory == NULL) return 71;
  cpictures_input input = {NULL, (uint64_t)status.st_size, read_file, proceed};
  cdecoding_reply reply;
  size_t before = held;
  most = held;
  cpictures_decode(&request, &tile, &extent, &input, memory, size, &reply);
  // Printing allocates, too.
  size_t taken = most - before, leaked = held - before;
  if (leaked != 0) fprintf(stderr, "%zu bytes are leaked\n", leaked);
  if (reply.status != CDECODING_OK) fprintf(stderr, "%s\n", reply.message);
  printf("%zu\n", taken);
  free(memory);
  return reply.status == CDECODING_OK && leaked == 0 ? 0 : 1;
}

#endif
