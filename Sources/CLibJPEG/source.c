#include "source.h"

#include <jerror.h>

static void init_source(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean fill_input_buffer(j_decompress_ptr jpeg) {
  clibjpeg_source *source = (clibjpeg_source *)jpeg->src;
  if (source->input.cancelled(source->input.context)) {
    clibjpeg_trap_throw(source->trap, CLIBJPEG_CANCELLED, "cancelled");
  }
  ptrdiff_t count =
      source->ended ? 0
                    : source->input.read(source->input.context, source->offset, source->window, sizeof source->window);
  if (count < 0) clibjpeg_trap_throw(source->trap, CLIBJPEG_READ_FAILED, "read failed");
  if ((size_t)count > sizeof source->window) {
    clibjpeg_trap_throw(source->trap, CLIBJPEG_BAD_CALL, "read overran its window");
  }
  if (count == 0) {
    if (source->offset == 0) ERREXIT(jpeg, JERR_INPUT_EMPTY);
    // Warns and delivers an EOI marker, as libjpeg's own sources do.
    source->ended = true;
    WARNMS(jpeg, JWRN_JPEG_EOF);
    source->window[0] = 0xFF;
    source->window[1] = JPEG_EOI;
    count = 2;
  } else {
    source->offset += (uint64_t)count;
    source->seen = source->offset;
  }
  source->manager.next_input_byte = source->window;
  source->manager.bytes_in_buffer = (size_t)count;
  return TRUE;
}

static void skip_input_data(j_decompress_ptr jpeg, long count) {
  clibjpeg_source *source = (clibjpeg_source *)jpeg->src;
  if (count <= 0) return;
  if ((size_t)count <= source->manager.bytes_in_buffer) {
    source->manager.next_input_byte += count;
    source->manager.bytes_in_buffer -= (size_t)count;
    return;
  }
  // Bytes outside the window are skipped without reading them.
  if (!source->ended) source->offset += (size_t)count - source->manager.bytes_in_buffer;
  source->manager.next_input_byte = source->window;
  source->manager.bytes_in_buffer = 0;
}

static void term_source(j_decompress_ptr jpeg) { (void)jpeg; }

void clibjpeg_source_init(clibjpeg_source *source, const clibjpeg_input *input, clibjpeg_trap *trap) {
  source->input = *input;
  source->trap = trap;
  source->offset = source->seen = 0;
  source->ended = false;
  source->manager.init_source = init_source;
  source->manager.fill_input_buffer = fill_input_buffer;
  source->manager.skip_input_data = skip_input_data;
  source->manager.resync_to_restart = jpeg_resync_to_restart;
  source->manager.term_source = term_source;
  source->manager.next_input_byte = source->window;
  source->manager.bytes_in_buffer = 0;
}

void clibjpeg_source_describe_end(const clibjpeg_source *source, char into[CLIBJPEG_MESSAGE_SIZE]) {
  unsigned long long offset = source->offset;
  if (source->seen == source->offset) {
    snprintf(into, CLIBJPEG_MESSAGE_SIZE, "it is cut off after %llu byte%s", offset, offset == 1 ? "" : "s");
  } else {
    snprintf(into, CLIBJPEG_MESSAGE_SIZE, "it is cut off before byte %llu", offset);
  }
}
