#include "decoder.h"

#include <sys/mman.h>
#include <unistd.h>

/// The size of a huge page on most systems. A smaller array contains no whole one.
#define SMALLEST ((size_t)2 << 20)

/// Remembers a requested array. Its address is known only after libjpeg has allocated all of them.
static jvirt_barray_ptr request(
    j_common_ptr common, int pool, boolean zeroed, JDIMENSION blocks_per_row, JDIMENSION rows, JDIMENSION most) {
  clibjpeg_huge_pages *pages = &clibjpeg_decoder_of(common)->huge_pages;
  jvirt_barray_ptr array = pages->request(common, pool, zeroed, blocks_per_row, rows, most);
  // Rows of an array that does not start zeroed may not be accessed before they are written.
  if (zeroed && rows > 0 && pages->count < CLIBJPEG_MAX_COMPONENTS) {
    pages->arrays[pages->count].array = array;
    pages->arrays[pages->count].blocks_per_row = blocks_per_row;
    pages->arrays[pages->count].rows = rows;
    pages->count++;
  }
  return array;
}

/// Advises the system to use huge pages for the whole pages inside `size` bytes from `start`. The system may ignore the
/// advice, which does no harm.
static void advise(void *start, size_t size) {
#ifdef MADV_HUGEPAGE
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t skipped = (page - (uintptr_t)start % page) % page;
  if (size > skipped) madvise((uint8_t *)start + skipped, (size - skipped) / page * page, MADV_HUGEPAGE);
#else
  (void)start;
  (void)size;
#endif
}

static void realize(j_common_ptr common) {
  clibjpeg_huge_pages *pages = &clibjpeg_decoder_of(common)->huge_pages;
  pages->realize(common);
  for (int i = 0; i < pages->count; i++) {
    JDIMENSION last = pages->arrays[i].rows - 1;
    size_t row_size = pages->arrays[i].blocks_per_row * sizeof(JBLOCK);
    if (row_size * pages->arrays[i].rows < SMALLEST) continue;
    // Accessing a row touches only that row.
    jvirt_barray_ptr array = pages->arrays[i].array;
    uint8_t *first_row = (uint8_t *)common->mem->access_virt_barray(common, array, 0, 1, FALSE)[0];
    uint8_t *last_row = (uint8_t *)common->mem->access_virt_barray(common, array, last, 1, FALSE)[0];
    // Above about 1 GB libjpeg allocates in pieces, which get no advice.
    if (last_row == first_row + row_size * last) advise(first_row, row_size * pages->arrays[i].rows);
  }
  pages->count = 0;
}

void clibjpeg_huge_pages_install(j_decompress_ptr jpeg) {
  clibjpeg_huge_pages *pages = &clibjpeg_decoder_of((j_common_ptr)jpeg)->huge_pages;
  pages->count = 0;
  pages->request = jpeg->mem->request_virt_barray;
  pages->realize = jpeg->mem->realize_virt_arrays;
  jpeg->mem->request_virt_barray = request;
  jpeg->mem->realize_virt_arrays = realize;
}
