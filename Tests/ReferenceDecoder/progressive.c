#include "reference.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct trap {
  struct jpeg_error_mgr base;
  jmp_buf target;
};

static void leave(j_common_ptr codec) {
  struct trap *trap = (struct trap *)codec->err;
  longjmp(trap->target, 1);
}

static void set_script(struct jpeg_compress_struct *encoder, const reference_scan *scans, int count,
                       jpeg_scan_info *script) {
  for (int i = 0; i < count; i++) {
    const reference_scan *scan = &scans[i];
    script[i] = (jpeg_scan_info){
        .comps_in_scan = scan->count, .Ss = scan->start, .Se = scan->end, .Ah = scan->high, .Al = scan->low};
    for (int k = 0; k < scan->count; k++) script[i].component_index[k] = scan->components[k];
  }
  encoder->scan_info = script;
  encoder->num_scans = count;
}

uint8_t *reference_progressive(const uint8_t *bytes, size_t size, const reference_scan *scans, int count,
                               unsigned restart_interval, size_t *made_size) {
  struct jpeg_decompress_struct decoder;
  struct jpeg_compress_struct encoder;
  struct trap trap;
  memset(&decoder, 0, sizeof decoder);
  memset(&encoder, 0, sizeof encoder);
  decoder.err = encoder.err = jpeg_std_error(&trap.base);
  trap.base.error_exit = leave;
  jpeg_scan_info *script = calloc((size_t)count, sizeof *script);
  unsigned char *made = NULL;
  unsigned long length = 0;
  volatile int failed = 1;
  if (script != NULL && !setjmp(trap.target)) {
    jpeg_create_decompress(&decoder);
    jpeg_create_compress(&encoder);
    jpeg_mem_src(&decoder, bytes, size);
    jpeg_mem_dest(&encoder, &made, &length);
    jpeg_read_header(&decoder, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&decoder);
    jpeg_copy_critical_parameters(&decoder, &encoder);
    set_script(&encoder, scans, count, script);
    encoder.restart_interval = restart_interval;
    jpeg_write_coefficients(&encoder, coefficients);
    jpeg_finish_compress(&encoder);
    failed = 0;
  }
  jpeg_destroy_compress(&encoder);
  jpeg_destroy_decompress(&decoder);
  free(script);
  if (failed) {
    free(made);
    return NULL;
  }
  *made_size = length;
  return made;
}
