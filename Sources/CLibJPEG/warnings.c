#include "decoder.h"

#include <jerror.h>

/// Counts a warning, and ends decoding if the caller does not tolerate its class.
static void warn(clibjpeg_decoder *decoder, clibjpeg_warning warning, const char *message) {
  static const clibjpeg_status status[CLIBJPEG_WARNING_CLASSES] = {
      CLIBJPEG_TRUNCATED, CLIBJPEG_CORRUPT, CLIBJPEG_WARNED};
  clibjpeg_warnings *warnings = &decoder->warnings;
  if (warnings->classes[warning].count++ == 0) {
    snprintf(warnings->classes[warning].first, CLIBJPEG_MESSAGE_SIZE, "%s", message);
  }
  if (warnings->fail_mask & 1u << warning) clibjpeg_trap_throw(&decoder->trap, status[warning], message);
}

void clibjpeg_warn_truncated(j_decompress_ptr jpeg) {
  clibjpeg_decoder *decoder = clibjpeg_decoder_of((j_common_ptr)jpeg);
  char message[CLIBJPEG_MESSAGE_SIZE] = "its picture data ends early";
  if (decoder->source.ended) clibjpeg_source_describe_end(&decoder->source, message);
  warn(decoder, CLIBJPEG_WARNING_TRUNCATED, message);
}

/// Receives libjpeg's messages. Level -1 is a warning; other levels are for tracing. A missing EOI marker alone does
/// not mean that samples are missing; the entropy decoder's next warning or missing_samples() in decode.c shows whether
/// they are.
static void emit_message(j_common_ptr common, int level) {
  if (level >= 0) return;
  clibjpeg_decoder *decoder = clibjpeg_decoder_of(common);
  int code = common->err->msg_code;
  bool breaks_samples = code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE ||
                        code == JWRN_MUST_RESYNC || code == JWRN_BOGUS_PROGRESSION;
  // Corrupt data may take too many bits and reach the EOI marker early. That is corruption, not truncation.
  bool meets_marker = code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC;
  bool at_marker = meets_marker && decoder->jpeg.unread_marker == JPEG_EOI;
  bool is_undamaged = decoder->warnings.classes[CLIBJPEG_WARNING_DAMAGED].count == 0;
  bool at_end = decoder->source.ended || (at_marker && is_undamaged);
  // The arithmetic decoder reads zeros after the end without a warning, so for it a missing EOI marker means
  // truncation.
  if ((breaks_samples && at_end) || (code == JWRN_JPEG_EOF && decoder->jpeg.arith_code)) {
    clibjpeg_warn_truncated(&decoder->jpeg);
    return;
  }
  // Only the first message is formatted: a damaged file can warn a million times.
  clibjpeg_warning class = breaks_samples ? CLIBJPEG_WARNING_DAMAGED : CLIBJPEG_WARNING_HARMLESS;
  char message[CLIBJPEG_MESSAGE_SIZE] = "";
  if (decoder->warnings.classes[class].count == 0) clibjpeg_trap_format(common, message);
  warn(decoder, class, message);
}

void clibjpeg_warnings_install(j_decompress_ptr jpeg) { jpeg->err->emit_message = emit_message; }
