// The fuzz target of CLibJPEG: decodes any bytes as `Thumbnails` does, with the address and undefined-behaviour
// sanitizers. The last two bytes choose the options, so that any file is an input. With DECODES_TWICE it decodes twice, as
// fills.h says.

#include <clibjpeg.h>
#include <stdlib.h>
#include <string.h>

#include "fills.h"
#include "fuzz_input.h"

// Larger pictures take long and show nothing else.
static const uint64_t most_samples = 1 << 20;
static const int most_calls = 20000;

static bool fuzz_cancelled(void *context) {
  fuzz_input *input = context;
  return ++input->calls > most_calls;
}

/// Decodes into planes that are exactly as large as their layout demands. Returns a hash of their samples; 0 if there are
/// none.
static uint64_t decode_planes(clibjpeg_decoder *decoder, unsigned choice, int components) {
  clibjpeg_plane_layout layout[CLIBJPEG_MAX_COMPONENTS];
  if (clibjpeg_decoder_set_scale(decoder, 1U << (choice >> 3 & 3), layout) != CLIBJPEG_OK) return 0;
  clibjpeg_plane planes[CLIBJPEG_MAX_COMPONENTS] = {{0}};
  for (int index = 0; index < components; index++) {
    planes[index].stride = layout[index].min_stride;
    planes[index].rows = layout[index].min_rows;
    planes[index].data = malloc(planes[index].stride * planes[index].rows);
    if (planes[index].data == NULL) abort();
  }
  bool is_decoded = clibjpeg_decoder_decode(decoder, choice >> 5 & 1, planes) == CLIBJPEG_OK;
  uint64_t hash = is_decoded ? 1 : 0;
  for (int index = 0; index < components; index++) {
    size_t size = planes[index].stride * planes[index].rows;
    // FNV-1a of 64 bits.
    for (size_t place = 0; is_decoded && place < size; place++) hash = (hash ^ planes[index].data[place]) * 0x100000001B3;
    free(planes[index].data);
  }
  return hash;
}

/// Decodes a file. Returns as decode_planes().
static uint64_t decode(const uint8_t *bytes, size_t size, unsigned choice) {
  fuzz_input input = {bytes, size, 0};
  clibjpeg_input reading = {&input, fuzz_read, fuzz_cancelled};
  clibjpeg_decoder *decoder = clibjpeg_decoder_create(&reading);
  if (decoder == NULL) return 0;
  clibjpeg_header header;
  uint64_t hash = 0;
  if (clibjpeg_decoder_read_header(decoder, choice & 7, choice >> 6 & 1, &header) == CLIBJPEG_OK &&
      (uint64_t)header.width * header.height * (uint64_t)header.components <= most_samples) {
    hash = decode_planes(decoder, choice, header.components);
  }
  for (int class = 0; class < CLIBJPEG_WARNING_CLASSES; class++) {
    if (strlen(clibjpeg_decoder_warning_message(decoder, class)) >= CLIBJPEG_MESSAGE_SIZE) abort();
  }
  if (strlen(clibjpeg_decoder_message(decoder)) >= CLIBJPEG_MESSAGE_SIZE) abort();
  clibjpeg_decoder_destroy(decoder);
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  unsigned choice = (unsigned)bytes[size - 2] << 8 | bytes[size - 1];
  uint64_t hash = decode(bytes, size, choice);
#ifdef DECODES_TWICE
  fuzz_set_fill(FUZZ_BYTE);
  if (decode(bytes, size, choice) != hash) abort();
  fuzz_set_fill(FUZZ_PATTERN);
#else
  (void)hash;
#endif
  return 0;
}
