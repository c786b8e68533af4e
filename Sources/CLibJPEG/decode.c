// Decodes the header, and then raw planes at a scale, one row of MCUs (libjpeg's iMCU row) at a time.

#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "scan_skip.h"

#if JPEG_LIB_VERSION >= 70
#define SCALED_SIZE(component) ((component)->DCT_h_scaled_size)
#define MIN_SCALED_SIZE(jpeg) ((jpeg)->min_DCT_h_scaled_size)
#else
#define SCALED_SIZE(component) ((component)->DCT_scaled_size)
#define MIN_SCALED_SIZE(jpeg) ((jpeg)->min_DCT_scaled_size)
#endif

static void progress_monitor(j_common_ptr common) {
  clibjpeg_decoder *decoder = clibjpeg_decoder_of(common);
  if (decoder->source.input.cancelled(decoder->source.input.context)) {
    clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_CANCELLED, "cancelled");
  }
  if (decoder->jpeg.input_scan_number > CLIBJPEG_SCAN_LIMIT) {
    clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_TOO_MANY_SCANS, "too many scans");
  }
  if (decoder->jpeg.arith_code) clibjpeg_arith_watch_scan(&decoder->jpeg);
}

/// The status after a jump out of libjpeg. Damage that libjpeg reports at the end of the input is truncation.
static clibjpeg_status failed(clibjpeg_decoder *decoder) {
  clibjpeg_trap *trap = &decoder->trap;
  bool cut_off = decoder->source.ended && trap->status == CLIBJPEG_DAMAGED;
  if (cut_off) {
    trap->status = CLIBJPEG_TRUNCATED;
    clibjpeg_source_describe_end(&decoder->source, trap->message);
  }
  return trap->status;
}

clibjpeg_decoder *clibjpeg_decoder_create(const clibjpeg_input *input) {
  clibjpeg_decoder *decoder = malloc(sizeof *decoder);
  if (decoder == NULL) return NULL;
  memset(decoder, 0, offsetof(clibjpeg_decoder, source));
  memset(&decoder->markers, 0, sizeof decoder->markers);
  memset(&decoder->arith_watch, 0, sizeof decoder->arith_watch);
  memset(&decoder->warnings, 0, sizeof decoder->warnings);
  decoder->jpeg.err = clibjpeg_trap_init(&decoder->trap);
  decoder->jpeg.client_data = decoder;
  if (setjmp(decoder->trap.landing)) {
    clibjpeg_decoder_destroy(decoder);
    return NULL;
  }
  jpeg_create_decompress(&decoder->jpeg);
  clibjpeg_source_init(&decoder->source, input, &decoder->trap);
  decoder->jpeg.src = &decoder->source.manager;
  decoder->progress.progress_monitor = progress_monitor;
  decoder->jpeg.progress = &decoder->progress;
  clibjpeg_warnings_install(&decoder->jpeg);
  clibjpeg_markers_install(&decoder->jpeg);
  clibjpeg_huge_pages_install(&decoder->jpeg);
  return decoder;
}

void clibjpeg_decoder_destroy(clibjpeg_decoder *decoder) {
  if (decoder == NULL) return;
  jpeg_destroy_decompress(&decoder->jpeg);
  clibjpeg_markers_free(&decoder->markers);
  free(decoder);
}

/// The JPEG colour space, or 0 for one of which thumbnails cannot be made.
static clibjpeg_color color_of(const struct jpeg_decompress_struct *jpeg) {
  switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE: return CLIBJPEG_GREY;
    case JCS_RGB: return CLIBJPEG_RGB;
    case JCS_YCbCr: return CLIBJPEG_YCC;
    case JCS_CMYK: return CLIBJPEG_CMYK;
    case JCS_YCCK: return CLIBJPEG_YCCK;
    default: return 0;
  }
}

clibjpeg_status clibjpeg_decoder_read_header(
    clibjpeg_decoder *decoder, unsigned fail_mask, bool measures, clibjpeg_header *header) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  decoder->markers.measures = measures;
  memset(header, 0, sizeof *header);
  decoder->warnings.fail_mask = fail_mask;
  if (setjmp(decoder->trap.landing)) return failed(decoder);

  jpeg_read_header(jpeg, TRUE);
  clibjpeg_markers_finish(&decoder->markers);
  header->color = color_of(jpeg);
  if (header->color == 0 || jpeg->num_components > CLIBJPEG_MAX_COMPONENTS) {
    char message[CLIBJPEG_MESSAGE_SIZE];
    snprintf(message, sizeof message, "it has %d components", jpeg->num_components);
    clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_UNSUPPORTED, message);
  }
  header->width = jpeg->image_width;
  header->height = jpeg->image_height;
  header->components = jpeg->num_components;
  header->progressive = jpeg->progressive_mode;
  header->arithmetic = jpeg->arith_code;
  header->multiscan = jpeg_has_multiple_scans(jpeg);
  for (int i = 0; i < jpeg->num_components; i++) {
    header->h[i] = jpeg->comp_info[i].h_samp_factor;
    header->v[i] = jpeg->comp_info[i].v_samp_factor;
  }
  header->exif = decoder->markers.exif_size > 0 ? decoder->markers.exif : NULL;
  header->exif_size = decoder->markers.exif_size;
  header->icc = decoder->markers.icc;
  header->icc_size = decoder->markers.icc_size;
  return CLIBJPEG_OK;
}

/// The rows of a component's plane in a row of MCUs.
static size_t band_rows(const jpeg_component_info *component) {
  return (size_t)(component->v_samp_factor * SCALED_SIZE(component));
}

/// Fills in the layout of component `index` at the current scale.
static void lay_out(const struct jpeg_decompress_struct *jpeg, int index, clibjpeg_plane_layout *layout) {
  const jpeg_component_info *component = &jpeg->comp_info[index];
  size_t h_max = (size_t)jpeg->max_h_samp_factor, v_max = (size_t)jpeg->max_v_samp_factor;
  size_t per_mcu_h = (size_t)(component->h_samp_factor * SCALED_SIZE(component));
  size_t per_mcu_v = band_rows(component);
  size_t mcus_per_row = (jpeg->image_width + h_max * DCTSIZE - 1) / (h_max * DCTSIZE);
  size_t mcu_rows = (jpeg->image_height + v_max * DCTSIZE - 1) / (v_max * DCTSIZE);
  layout->columns = component->downsampled_width;
  layout->rows = component->downsampled_height;
  layout->min_stride = mcus_per_row * per_mcu_h;
  layout->min_rows = mcu_rows * per_mcu_v;
  layout->band_rows = per_mcu_v;
  layout->columns_exact = (double)jpeg->image_width * (double)per_mcu_h / (double)(h_max * DCTSIZE);
  layout->rows_exact = (double)jpeg->image_height * (double)per_mcu_v / (double)(v_max * DCTSIZE);
}

clibjpeg_status clibjpeg_decoder_set_scale(
    clibjpeg_decoder *decoder, unsigned denominator, clibjpeg_plane_layout layout[CLIBJPEG_MAX_COMPONENTS]) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  if (setjmp(decoder->trap.landing)) return failed(decoder);
  if (denominator != 1 && denominator != 2 && denominator != 4 && denominator != 8) {
    clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_BAD_CALL, "a scale that libjpeg does not have");
  }
  jpeg->scale_num = 1;
  jpeg->scale_denom = denominator;
  jpeg->out_color_space = jpeg->jpeg_color_space;
  jpeg->raw_data_out = TRUE;
  jpeg->dct_method = JDCT_ISLOW;
  // Smoothing would guess the missing coefficients of a cut-off progressive file, but such a file is an error here.
  jpeg->do_block_smoothing = FALSE;
  jpeg_calc_output_dimensions(jpeg);
  for (int i = 0; i < jpeg->num_components; i++) lay_out(jpeg, i, &layout[i]);
  return CLIBJPEG_OK;
}

/// Whether a component has no data, or the file ends before all coefficients are refined. Called after all input has
/// been read, because a file that is cut exactly between two scans causes no warning except that of the missing EOI
/// marker.
static bool missing_samples(const clibjpeg_decoder *decoder) {
  const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  for (int i = 0; i < jpeg->num_components; i++) {
    if (jpeg->comp_info[i].quant_table == NULL) return true;
    if (!jpeg->progressive_mode || jpeg->coef_bits == NULL) continue;
    if (jpeg->coef_bits[i][0] < 0) return true;
    for (int k = 0; decoder->source.ended && k < DCTSIZE2; k++) {
      if (jpeg->coef_bits[i][k] != 0) return true;
    }
  }
  return false;
}

/// Whether a progressive file ends before all coefficients are known to their last bit. Called after all input has been
/// read.
static bool lacks_scans(const struct jpeg_decompress_struct *jpeg) {
  if (!jpeg->progressive_mode || jpeg->coef_bits == NULL) return false;
  for (int i = 0; i < jpeg->num_components; i++) {
    for (int k = 0; k < DCTSIZE2; k++) {
      if (jpeg->coef_bits[i][k] != 0) return true;
    }
  }
  return false;
}

/// Whether every plane has room for its layout, or for a band of it.
static bool planes_fit(const struct jpeg_decompress_struct *jpeg, const clibjpeg_plane *planes, bool band) {
  for (int i = 0; i < jpeg->num_components; i++) {
    clibjpeg_plane_layout layout;
    lay_out(jpeg, i, &layout);
    if (planes[i].data == NULL) return false;
    if (planes[i].stride < layout.min_stride) return false;
    if (planes[i].rows < (band ? layout.band_rows : layout.min_rows)) return false;
  }
  return true;
}

/// Whether the last bit of AC coefficients is too small to be visible at a smaller scale. The quantization step of
/// luma's lowest AC frequency shows how coarse the others are. Encoders stay below the limit at qualities from about
/// 70. Measured loss: 0.0005 of SSIM at quality 75, 0.004 at 30.
static bool has_fine_steps(const struct jpeg_decompress_struct *jpeg) {
  const JQUANT_TBL *table = jpeg->quant_tbl_ptrs[jpeg->comp_info[0].quant_tbl_no & (NUM_QUANT_TBLS - 1)];
  return table != NULL && table->quantval[1] <= 8;
}

/// Reads the input that the output needs before its first row.
static void start(clibjpeg_decoder *decoder, bool skip_fine_scans) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  bool skips = skip_fine_scans && clibjpeg_can_skip_scans(jpeg) && has_fine_steps(jpeg);
  jpeg->buffered_image = skips;
  jpeg_start_decompress(jpeg);
  if (skips) {
    for (int event = 0; event != JPEG_REACHED_EOI; event = jpeg_consume_input(jpeg)) {
      progress_monitor((j_common_ptr)jpeg);
      bool is_fine = jpeg->Ss > 0 && jpeg->Ah == 1 && jpeg->Al == 0;
      if (event == JPEG_REACHED_SOS && is_fine) clibjpeg_skip_scan(jpeg);
    }
    // Here it is not known whether samples are missing; a decoder that skips nothing can find out.
    if (decoder->source.ended) clibjpeg_warn_truncated(jpeg);
    // Outputs as of the first scan, which includes all that has been read. For the last scan, libjpeg would wait for
    // rows that a skipped scan never delivers.
    jpeg_start_output(jpeg, 1);
  }
  if (!jpeg_has_multiple_scans(jpeg)) return;
  if (missing_samples(decoder)) {
    clibjpeg_warn_truncated(jpeg);
  } else if (lacks_scans(jpeg)) {
    clibjpeg_warn_harmless(jpeg, CLIBJPEG_LACKS_SCANS);
  }
}

/// Decodes the next row of MCUs into the first rows of each plane.
static void read_band(struct jpeg_decompress_struct *jpeg, const clibjpeg_plane *planes) {
  JSAMPROW rows[CLIBJPEG_MAX_COMPONENTS][MAX_SAMP_FACTOR * DCTSIZE];
  JSAMPARRAY arrays[CLIBJPEG_MAX_COMPONENTS];
  for (int i = 0; i < jpeg->num_components; i++) {
    size_t count = band_rows(&jpeg->comp_info[i]);
    for (size_t row = 0; row < count; row++) rows[i][row] = planes[i].data + row * planes[i].stride;
    // Each row of MCUs is cleared just before it is decoded, so that its rows stay in the cache and `cancelled` is
    // called often.
    memset(rows[i][0], 0x80, count * planes[i].stride);
    arrays[i] = rows[i];
  }
  jpeg_read_raw_data(jpeg, arrays, (JDIMENSION)(jpeg->max_v_samp_factor * MIN_SCALED_SIZE(jpeg)));
}

static void finish(struct jpeg_decompress_struct *jpeg) {
  if (jpeg->buffered_image) jpeg_finish_output(jpeg);
  jpeg_finish_decompress(jpeg);
  clibjpeg_warnings_finish(jpeg);
}

clibjpeg_status clibjpeg_decoder_decode(
    clibjpeg_decoder *decoder, bool skip_fine_scans, const clibjpeg_plane planes[CLIBJPEG_MAX_COMPONENTS]) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  if (setjmp(decoder->trap.landing)) return failed(decoder);

  if (!planes_fit(jpeg, planes, false)) clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_BAD_CALL, "a plane is too small");
  start(decoder, skip_fine_scans);
  clibjpeg_plane left[CLIBJPEG_MAX_COMPONENTS];
  memcpy(left, planes, sizeof left);
  while (jpeg->output_scanline < jpeg->output_height) {
    read_band(jpeg, left);
    for (int i = 0; i < jpeg->num_components; i++) {
      left[i].data += band_rows(&jpeg->comp_info[i]) * left[i].stride;
    }
  }
  finish(jpeg);
  return CLIBJPEG_OK;
}

clibjpeg_status clibjpeg_decoder_start(clibjpeg_decoder *decoder, bool skip_fine_scans) {
  if (setjmp(decoder->trap.landing)) return failed(decoder);
  start(decoder, skip_fine_scans);
  return CLIBJPEG_OK;
}

clibjpeg_status clibjpeg_decoder_read_band(
    clibjpeg_decoder *decoder, const clibjpeg_plane planes[CLIBJPEG_MAX_COMPONENTS]) {
  struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
  if (setjmp(decoder->trap.landing)) return failed(decoder);
  if (!planes_fit(jpeg, planes, true) || jpeg->output_scanline >= jpeg->output_height) {
    clibjpeg_trap_throw(&decoder->trap, CLIBJPEG_BAD_CALL, "a plane is too small, or the picture has ended");
  }
  read_band(jpeg, planes);
  return CLIBJPEG_OK;
}

clibjpeg_status clibjpeg_decoder_finish(clibjpeg_decoder *decoder) {
  if (setjmp(decoder->trap.landing)) return failed(decoder);
  finish(&decoder->jpeg);
  return CLIBJPEG_OK;
}

const char *clibjpeg_decoder_message(const clibjpeg_decoder *decoder) { return decoder->trap.message; }

long clibjpeg_decoder_warning_count(const clibjpeg_decoder *decoder, clibjpeg_warning warning) {
  return decoder->warnings.classes[warning].count;
}

const char *clibjpeg_decoder_warning_message(const clibjpeg_decoder *decoder, clibjpeg_warning warning) {
  return decoder->warnings.classes[warning].first;
}
