#include "error_trap.h"

#include <string.h>

#include <jerror.h>

/// The status for a fatal error code of libjpeg. Statuses differ in what a user can do about them.
static clibjpeg_status status_of(int code) {
  switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
      return CLIBJPEG_NO_MEMORY;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_COMPONENT_COUNT:
    case JERR_IMAGE_TOO_BIG:
    case JERR_EMPTY_IMAGE:
    case JERR_ARITH_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
      return CLIBJPEG_UNSUPPORTED;
    case JERR_BAD_STATE:
    case JERR_BUFFER_SIZE:
      return CLIBJPEG_BAD_CALL;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
      return CLIBJPEG_TRUNCATED;
    default:
      return CLIBJPEG_DAMAGED;
  }
}

void clibjpeg_trap_format(j_common_ptr common, char into[CLIBJPEG_MESSAGE_SIZE]) {
  char full[JMSG_LENGTH_MAX];
  common->err->format_message(common, full);
  snprintf(into, CLIBJPEG_MESSAGE_SIZE, "%.*s", CLIBJPEG_MESSAGE_SIZE - 1, full);
}

static void error_exit(j_common_ptr common) {
  clibjpeg_trap *trap = (clibjpeg_trap *)common->err;
  trap->status = status_of(common->err->msg_code);
  clibjpeg_trap_format(common, trap->message);
  longjmp(trap->landing, 1);
}

static void stay_silent(j_common_ptr common) { (void)common; }

static void ignore_message(j_common_ptr common, int level) {
  (void)common;
  (void)level;
}

struct jpeg_error_mgr *clibjpeg_trap_init(clibjpeg_trap *trap) {
  memset(trap, 0, sizeof *trap);
  jpeg_std_error(&trap->manager);
  trap->manager.error_exit = error_exit;
  trap->manager.output_message = stay_silent;
  trap->manager.emit_message = ignore_message;
  return &trap->manager;
}

_Noreturn void clibjpeg_trap_throw(clibjpeg_trap *trap, clibjpeg_status status, const char *message) {
  trap->status = status;
  snprintf(trap->message, sizeof trap->message, "%s", message);
  longjmp(trap->landing, 1);
}
