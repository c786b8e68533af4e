// The struct of clibjpeg.h's decoder. decode.c calls libjpeg; libjpeg calls back into markers.c, huge_pages.c,
// arith_watch.c and warnings.c, which find their part of the decoder through client_data.

#ifndef CLIBJPEG_DECODER_H
#define CLIBJPEG_DECODER_H

#include <stdio.h>

#include <jpeglib.h>

#include "arith_watch.h"
#include "clibjpeg.h"
#include "error_trap.h"
#include "huge_pages.h"
#include "markers.h"
#include "source.h"
#include "warnings.h"

struct clibjpeg_decoder {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_progress_mgr progress;
  clibjpeg_trap trap;
  clibjpeg_source source;
  clibjpeg_markers markers;
  clibjpeg_huge_pages huge_pages;
  clibjpeg_arith_watch arith_watch;
  clibjpeg_warnings warnings;
};

/// The decoder that a libjpeg callback belongs to.
static inline clibjpeg_decoder *clibjpeg_decoder_of(j_common_ptr common) { return common->client_data; }

#endif
