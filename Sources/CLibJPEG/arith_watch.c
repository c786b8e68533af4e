#if __has_include(<jpegint.h>)
// The entropy decoder's methods (struct jpeg_entropy_decoder, the same since libjpeg 6b) are not in the public header.
#define JPEG_INTERNALS
#endif

#include "decoder.h"

#include <string.h>

#ifdef JPEG_INTERNALS

/// The beginning of libjpeg-turbo's arithmetic decoder (jdarith.c), which is in no header. `knows_registers` says
/// whether this libjpeg has it.
typedef struct arith_registers {
  struct jpeg_entropy_decoder methods;
  JLONG c;  // the C register, shifted left by the bits read ahead
  JLONG a;  // the size of the interval
  int ct;   // bits read ahead; -16 at the start of a restart interval, -1 after an error
} arith_registers;

/// Stands for the zeros after the end of a scan's data. An MCU takes less: it has at most 640 coefficients, each takes
/// at most 30 decisions, and a decision at most 15 bits.
static JOCTET zeros[(size_t)40 << 10];

/// Whether the C register is neither zero nor has one of its last values.
static bool takes_new_value(clibjpeg_arith_watch *watch, j_decompress_ptr jpeg) {
  const arith_registers *registers = (const arith_registers *)jpeg->entropy;
  if (registers->c == 0 || registers->ct < 0 || registers->ct > 7) return false;
  unsigned long value = (unsigned long)registers->c << (7 - registers->ct);
  for (unsigned i = 0; i < CLIBJPEG_ARITH_KNOWN_VALUES; i++) {
    if (watch->known[i] == value) return false;
  }
  watch->known[watch->values++ % CLIBJPEG_ARITH_KNOWN_VALUES] = value;
  return true;
}

/// Starts to watch a restart interval.
static void begin_interval(clibjpeg_arith_watch *watch) {
  watch->in_interval = watch->zeros = 0;
  watch->values = 0;
  memset(watch->known, 0, sizeof watch->known);
}

/// Decodes an MCU after the end of the data. libjpeg does not count the zeros that it reads there, so it gets them from
/// here, as if the data went on.
static boolean decode_from_zeros(j_decompress_ptr jpeg, JBLOCKROW *blocks) {
  clibjpeg_arith_watch *watch = &clibjpeg_decoder_of((j_common_ptr)jpeg)->arith_watch;
  struct jpeg_source_mgr *source = jpeg->src;
  const JOCTET *next = source->next_input_byte;
  size_t left = source->bytes_in_buffer;
  int marker = jpeg->unread_marker;
  source->next_input_byte = zeros;
  source->bytes_in_buffer = sizeof zeros;
  jpeg->unread_marker = 0;
  watch->past_end = true;
  boolean result = watch->decode_mcu(jpeg, blocks);
  watch->past_end = false;
  size_t read = sizeof zeros - source->bytes_in_buffer;
  jpeg->unread_marker = marker;
  source->next_input_byte = next;
  source->bytes_in_buffer = left;
  if (watch->knows_registers && takes_new_value(watch, jpeg)) watch->zeros += read;
  if (watch->zeros > CLIBJPEG_ARITH_MOST_ZEROS) clibjpeg_warn_truncated(jpeg);
  return result;
}

static boolean decode_mcu(j_decompress_ptr jpeg, JBLOCKROW *blocks) {
  clibjpeg_arith_watch *watch = &clibjpeg_decoder_of((j_common_ptr)jpeg)->arith_watch;
  bool restarts = jpeg->restart_interval > 0 && watch->in_interval == jpeg->restart_interval;
  if (restarts) begin_interval(watch);
  bool is_first = watch->in_interval++ == 0;
  // At a restart, libjpeg looks for the restart marker.
  if (clibjpeg_at_scan_end(jpeg) && !restarts) return decode_from_zeros(jpeg, blocks);
  uint64_t start = clibjpeg_source_position(jpeg);
  boolean result = watch->decode_mcu(jpeg, blocks);
  // A scan of all coefficients has at least a byte. Zeros alone are a picture of one odd colour.
  bool is_empty = clibjpeg_at_scan_end(jpeg) && clibjpeg_source_position(jpeg) - start <= 2;
  if (is_first && is_empty && jpeg->Ss == 0 && jpeg->Se == DCTSIZE2 - 1) clibjpeg_warn_truncated(jpeg);
  return result;
}

void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg) {
  clibjpeg_arith_watch *watch = &clibjpeg_decoder_of((j_common_ptr)jpeg)->arith_watch;
  if (jpeg->entropy == NULL || jpeg->entropy->decode_mcu == decode_mcu) return;
  watch->decode_mcu = jpeg->entropy->decode_mcu;
  jpeg->entropy->decode_mcu = decode_mcu;
  const arith_registers *registers = (const arith_registers *)jpeg->entropy;
  watch->knows_registers = registers->c == 0 && registers->a == 0 && registers->ct == -16;
  begin_interval(watch);
}

#else

void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg) { (void)jpeg; }

#endif
