#include "reference.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

struct trap {
  struct jpeg_error_mgr base;
  jmp_buf target;
};

static void leave(j_common_ptr decoder) {
  struct trap *trap = (struct trap *)decoder->err;
  longjmp(trap->target, 1);
}

static void emit(j_common_ptr decoder, int level) {
  if (level < 0) leave(decoder);
}

// The indices in a block of the zigzag indices 0, 1, 2 and 4.
static const int places[4] = {0, 1, 8, 9};

static int copy(struct jpeg_decompress_struct *decoder, int component, int columns, int rows, int16_t *out) {
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(decoder);
  if (!arrays || component >= decoder->num_components) return -1;
  jpeg_component_info *info = &decoder->comp_info[component];
  if ((int)info->width_in_blocks != columns || (int)info->height_in_blocks != rows) return -1;
  for (int row = 0; row < rows; row++) {
    j_common_ptr common = (j_common_ptr)decoder;
    JBLOCKARRAY blocks = decoder->mem->access_virt_barray(common, arrays[component], (JDIMENSION)row, 1, FALSE);
    for (int column = 0; column < columns; column++) {
      for (int place = 0; place < 4; place++) *out++ = blocks[0][column][places[place]];
    }
  }
  return 0;
}

int reference_coefficients(const uint8_t *bytes, size_t size, int component, int columns, int rows,
                           int16_t *coefficients) {
  struct jpeg_decompress_struct decoder;
  struct trap trap;
  decoder.err = jpeg_std_error(&trap.base);
  trap.base.error_exit = leave;
  trap.base.emit_message = emit;
  volatile int status = -1;
  if (!setjmp(trap.target)) {
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, bytes, size);
    jpeg_read_header(&decoder, TRUE);
    status = copy(&decoder, component, columns, rows, coefficients);
  }
  jpeg_destroy_decompress(&decoder);
  return status;
}
