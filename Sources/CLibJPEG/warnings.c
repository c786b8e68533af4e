#include "decoder.h"

#include <jerror.h>

static void count(clibjpeg_warnings *warnings, clibjpeg_warning warning, const char *message) {
  if (warnings->classes[warning].count++ == 0) {
    snprintf(warnings->classes[warning].first, CLIBJPEG_MESSAGE_SIZE, "%s", message);
  }
}

/// Counts a warning, and ends decoding if the caller does not tolerate its class.
static void warn(clibjpeg_decoder *decoder, clibjpeg_warning warning, const char *message) {
  static const clibjpeg_status status[CLIBJPEG_WARNING_CLASSES] = {
      CLIBJPEG_TRUNCATED, CLIBJPEG_CORRUPT, CLIBJPEG_WARNED};
  count(&decoder->warnings, warning, message);
  if (decoder->warnings.fail_mask & 1u << warning) clibjpeg_trap_throw(&decoder->trap, status[warning], message);
}

void clibjpeg_warn_harmless(j_decompress_ptr jpeg, const char *message) {
  clibjpeg_decoder *decoder = clibjpeg_decoder_of((j_common_ptr)jpeg);
  decoder->warnings.classes[CLIBJPEG_WARNING_HARMLESS].count = 0;
  warn(decoder, CLIBJPEG_WARNING_HARMLESS, message);
}

void clibjpeg_warn_truncated(j_decompress_ptr jpeg) {
  clibjpeg_decoder *decoder = clibjpeg_decoder_of((j_common_ptr)jpeg);
  char message[CLIBJPEG_MESSAGE_SIZE] = "its picture data ends early";
  if (decoder->source.ended) clibjpeg_source_describe_end(&decoder->source, message);
  warn(decoder, CLIBJPEG_WARNING_TRUNCATED, message);
}

/// Whether a warning means that samples are wrong or missing.
static bool breaks_samples(int code) {
  switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION: return true;
    default: return false;
  }
}

/// Whether a warning means that the picture's data ends early.
static bool shows_truncation(clibjpeg_decoder *decoder, int code) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  switch (code) {
    // A missing EOI marker alone does not mean that samples are missing; the entropy decoder's next warning or
    // missing_samples() in decode.c shows whether they are. The arithmetic decoder reads zeros after the end without a
    // warning, so for it a missing EOI marker means truncation.
    case JWRN_JPEG_EOF: return jpeg->arith_code;
    // A download that was broken off often has its full length, with zeros in place of the rest. Zeros are short codes,
    // so the picture is complete before they end. Neither they nor the missing EOI marker alone would show that.
    case JWRN_EXTRANEOUS_DATA: return decoder->source.ended;
    case JWRN_ARITH_BAD_CODE:
      if (decoder->arith_watch.past_end || clibjpeg_at_scan_end(jpeg)) return true;
      break;
    // Corrupt data may take too many bits and reach the EOI marker early. That is corruption, not truncation.
    case JWRN_HIT_MARKER:
    case JWRN_MUST_RESYNC: {
      bool is_undamaged = decoder->warnings.classes[CLIBJPEG_WARNING_DAMAGED].count == 0;
      if (jpeg->unread_marker == JPEG_EOI && is_undamaged) return true;
      break;
    }
    default: break;
  }
  return decoder->source.ended && breaks_samples(code);
}

/// Receives libjpeg's messages. Level -1 is a warning; other levels are for tracing.
static void emit_message(j_common_ptr common, int level) {
  if (level >= 0) return;
  clibjpeg_decoder *decoder = clibjpeg_decoder_of(common);
  int code = common->err->msg_code;
  if (shows_truncation(decoder, code)) {
    clibjpeg_warn_truncated(&decoder->jpeg);
    return;
  }
  // Only the first message is formatted: a damaged file can warn a million times.
  clibjpeg_warning class = breaks_samples(code) ? CLIBJPEG_WARNING_DAMAGED : CLIBJPEG_WARNING_HARMLESS;
  char message[CLIBJPEG_MESSAGE_SIZE] = "";
  if (decoder->warnings.classes[class].count == 0) clibjpeg_trap_format(common, message);
  // The rest of the decoding shows whether samples are missing too, which is the greater fault.
  if (code == JWRN_JPEG_EOF) {
    count(&decoder->warnings, class, message);
  } else {
    warn(decoder, class, message);
  }
}

void clibjpeg_warnings_finish(j_decompress_ptr jpeg) {
  clibjpeg_decoder *decoder = clibjpeg_decoder_of((j_common_ptr)jpeg);
  const clibjpeg_warnings *warnings = &decoder->warnings;
  if (warnings->classes[CLIBJPEG_WARNING_HARMLESS].count == 0) return;
  if (!(warnings->fail_mask & 1u << CLIBJPEG_WARNING_HARMLESS)) return;
  clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_WARNED, warnings->classes[CLIBJPEG_WARNING_HARMLESS].first);
}

void clibjpeg_warnings_install(j_decompress_ptr jpeg) { jpeg->err->emit_message = emit_message; }
