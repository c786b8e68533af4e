#include "source.h"

#include <jerror.h>

static void init_source(j_decompress_ptr jpeg) { (void)jpeg; }

/// Reads the next window.
static void read_window(j_decompress_ptr jpeg, clibjpeg_source *source) {
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
  source->filled = (size_t)count;
  source->handed = 0;
}

static boolean fill_input_buffer(j_decompress_ptr jpeg) {
  clibjpeg_source *source = (clibjpeg_source *)jpeg->src;
  if (source->handed == source->filled) read_window(jpeg, source);
  size_t left = source->filled - source->handed;
  size_t count = left < CLIBJPEG_SLICE_SIZE ? left : CLIBJPEG_SLICE_SIZE;
  source->manager.next_input_byte = source->window + source->handed;
  source->manager.bytes_in_buffer = count;
  source->handed += count;
  return TRUE;
}

static void skip_input_data(j_decompress_ptr jpeg, long count) {
  clibjpeg_source *source = (clibjpeg_source *)jpeg->src;
  if (count <= 0) return;
  size_t left = (size_t)count;
  if (left <= source->manager.bytes_in_buffer) {
    source->manager.next_input_byte += left;
    source->manager.bytes_in_buffer -= left;
    return;
  }
  left -= source->manager.bytes_in_buffer;
  source->manager.bytes_in_buffer = 0;
  size_t in_window = source->filled - source->handed;
  if (left <= in_window) {
    source->handed += left;
    return;
  }
  // Bytes outside the window are skipped without reading them.
  if (!source->ended) source->offset += left - in_window;
  source->handed = source->filled;
}

static void term_source(j_decompress_ptr jpeg) { (void)jpeg; }

void clibjpeg_source_init(clibjpeg_source *source, const clibjpeg_input *input, clibjpeg_trap *trap) {
  source->input = *input;
  source->trap = trap;
  source->offset = source->seen = 0;
  source->ended = false;
  source->filled = source->handed = 0;
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
