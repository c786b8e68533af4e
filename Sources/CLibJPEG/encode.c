// Encodes raw planes into a JPEG file in a growing buffer.

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "error_trap.h"
#include "wide_codes.h"

#include <jerror.h>

/// A sample has at most MOST_SAMPLES rows of MCUs. It takes at most one of LEAST_STEP rows of MCUs of the picture.
#define MOST_SAMPLES 8
#define LEAST_STEP 8

typedef struct {
  struct jpeg_destination_mgr manager;  // first, so that libjpeg's pointer to it is also a pointer to the buffer
  clibjpeg_trap *trap;
  uint8_t *bytes;
  size_t capacity;
  size_t most;    // with more bytes, the codes do not suit the picture; 0 for no limit
  bool exceeded;  // whether there were more
} growing_buffer;

struct clibjpeg_encoder {
  struct jpeg_compress_struct jpeg;
  struct jpeg_progress_mgr progress;
  bool (*cancelled)(void *context);
  void *context;
  clibjpeg_trap trap;
  growing_buffer output;
};

static void init_destination(j_compress_ptr jpeg) {
  growing_buffer *output = (growing_buffer *)jpeg->dest;
  output->manager.next_output_byte = output->bytes;
  output->manager.free_in_buffer = output->capacity;
}

/// Makes the buffer half as large again. libjpeg calls this when the buffer is full.
static boolean empty_output_buffer(j_compress_ptr jpeg) {
  growing_buffer *output = (growing_buffer *)jpeg->dest;
  size_t filled = output->capacity;
  if (output->most > 0 && filled > output->most) {
    output->exceeded = true;
    clibjpeg_trap_throw(output->trap, CLIBJPEG_NO_MEMORY, "codes do not suit the picture");
  }
  size_t capacity = filled + filled / 2;
  uint8_t *grown = filled > SIZE_MAX / 2 ? NULL : realloc(output->bytes, capacity);
  if (grown == NULL) clibjpeg_trap_throw(output->trap, CLIBJPEG_NO_MEMORY, "no memory for the encoded thumbnail");
  output->bytes = grown;
  output->capacity = capacity;
  output->manager.next_output_byte = grown + filled;
  output->manager.free_in_buffer = capacity - filled;
  return TRUE;
}

static void term_destination(j_compress_ptr jpeg) { (void)jpeg; }

clibjpeg_encoder *clibjpeg_encoder_create(void) { return calloc(1, sizeof(clibjpeg_encoder)); }

void clibjpeg_encoder_destroy(clibjpeg_encoder *encoder) {
  if (encoder == NULL) return;
  free(encoder->output.bytes);
  free(encoder);
}

void clibjpeg_encoder_watch(clibjpeg_encoder *encoder, bool (*cancelled)(void *context), void *context) {
  encoder->cancelled = cancelled;
  encoder->context = context;
}

void clibjpeg_encoder_unwatch(clibjpeg_encoder *encoder) {
  encoder->cancelled = NULL;
  encoder->context = NULL;
}

void clibjpeg_encoder_trim(clibjpeg_encoder *encoder) {
  free(encoder->output.bytes);
  encoder->output.bytes = NULL;
  encoder->output.capacity = 0;
}

void clibjpeg_encoder_shrink(clibjpeg_encoder *encoder, size_t most) {
  if (encoder->output.capacity > most) clibjpeg_encoder_trim(encoder);
}

static void progress_monitor(j_common_ptr common) {
  clibjpeg_encoder *encoder = common->client_data;
  if (encoder->cancelled != NULL && encoder->cancelled(encoder->context)) {
    clibjpeg_trap_throw(&encoder->trap, CLIBJPEG_CANCELLED, "cancelled");
  }
}

static void set_up(struct jpeg_compress_struct *jpeg, const clibjpeg_encoding *encoding) {
  jpeg->image_width = encoding->width;
  jpeg->image_height = encoding->height;
  jpeg->input_components = encoding->grey ? 1 : 3;
  jpeg->in_color_space = encoding->grey ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, encoding->quality, TRUE);
  jpeg->optimize_coding = TRUE;
  jpeg->dct_method = JDCT_ISLOW;
  jpeg->raw_data_in = TRUE;
  int factor = encoding->half_chroma && !encoding->grey ? 2 : 1;
  jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = factor;
  if (encoding->progressive) jpeg_simple_progression(jpeg);
}

/// Copies one row of MCUs out of a plane, and repeats the last column and row up to whole MCUs. The padding is not
/// visible, but flat padding takes the fewest bits and causes the least ringing (libjpeg.txt, "Raw (downsampled) image
/// data").
static void fill_block_rows(
    const clibjpeg_plane *plane, size_t columns, size_t first_row, size_t row_count, uint8_t *into, size_t padded) {
  for (size_t i = 0; i < row_count; i++, into += padded) {
    size_t row = first_row + i < plane->rows ? first_row + i : plane->rows - 1;
    memcpy(into, plane->data + row * plane->stride, columns);
    memset(into + columns, into[columns - 1], padded - columns);
  }
}

/// The rows of MCUs from `first` on, one of every `step`.
typedef struct {
  size_t first, step;
} mcu_rows;

/// Passes rows of MCUs to the started compressor, up to the height of its picture. libjpeg frees the scratch rows.
static void write_planes(struct jpeg_compress_struct *jpeg, const clibjpeg_plane *planes, mcu_rows which) {
  JSAMPROW rows[3][2 * DCTSIZE];
  JSAMPARRAY arrays[3];
  size_t columns[3], padded[3], counts[3];
  for (int i = 0; i < jpeg->num_components; i++) {
    size_t factor = (size_t)(jpeg->max_h_samp_factor / jpeg->comp_info[i].h_samp_factor);
    size_t mcu = (size_t)jpeg->max_h_samp_factor * DCTSIZE;
    columns[i] = (jpeg->image_width + factor - 1) / factor;
    padded[i] = (jpeg->image_width + mcu - 1) / mcu * mcu / factor;
    counts[i] = (size_t)jpeg->comp_info[i].v_samp_factor * DCTSIZE;
    uint8_t *scratch = jpeg->mem->alloc_large((j_common_ptr)jpeg, JPOOL_IMAGE, padded[i] * counts[i]);
    for (size_t row = 0; row < counts[i]; row++) rows[i][row] = scratch + row * padded[i];
    arrays[i] = rows[i];
  }
  for (size_t mcu_row = which.first; jpeg->next_scanline < jpeg->image_height; mcu_row += which.step) {
    for (int i = 0; i < jpeg->num_components; i++) {
      fill_block_rows(&planes[i], columns[i], mcu_row * counts[i], counts[i], rows[i][0], padded[i]);
    }
    jpeg_write_raw_data(jpeg, arrays, (JDIMENSION)(jpeg->max_v_samp_factor * DCTSIZE));
  }
}

/// Discards the bytes in the buffer. libjpeg calls this when the buffer is full.
static boolean discard_buffer(j_compress_ptr jpeg) {
  init_destination(jpeg);
  return TRUE;
}

/// Gives the compressor Huffman codes that suit a sample of the picture's rows, if it is large enough.
static void choose_codes(
    clibjpeg_encoder *encoder, const clibjpeg_encoding *encoding, const clibjpeg_plane *planes) {
  struct jpeg_compress_struct *jpeg = &encoder->jpeg;
  JDIMENSION mcu = (JDIMENSION)(jpeg->comp_info[0].v_samp_factor * DCTSIZE);
  JDIMENSION mcus = (encoding->height + mcu - 1) / mcu;
  if (encoding->progressive || mcus < CLIBJPEG_SAMPLED_FROM) return;
  JDIMENSION step = mcus / MOST_SAMPLES > LEAST_STEP ? mcus / MOST_SAMPLES : LEAST_STEP;
  jpeg->image_height = mcus / step * mcu;
  encoder->output.manager.empty_output_buffer = discard_buffer;
  jpeg_start_compress(jpeg, TRUE);
  write_planes(jpeg, planes, (mcu_rows){.first = step / 2, .step = step});
  jpeg_finish_compress(jpeg);
  clibjpeg_widen_codes(jpeg);
  jpeg->image_height = encoding->height;
  jpeg->optimize_coding = FALSE;
  encoder->output.most = encoding->expected_size;
}

/// Whether the sizes are in range, and the planes are at least as large as the picture.
static bool is_sound(const clibjpeg_encoding *encoding, const clibjpeg_plane *planes) {
  if (encoding->width < 1 || encoding->width > CLIBJPEG_MAX_DIMENSION) return false;
  if (encoding->height < 1 || encoding->height > CLIBJPEG_MAX_DIMENSION) return false;
  if (encoding->quality < 1 || encoding->quality > 100 || encoding->exif_size > 65533) return false;
  if (encoding->icc_size > UINT_MAX) return false;
  for (int i = 0; i < (encoding->grey ? 1 : 3); i++) {
    size_t factor = i > 0 && encoding->half_chroma ? 2 : 1;
    if (planes[i].data == NULL || planes[i].stride < (encoding->width + factor - 1) / factor) return false;
    if (planes[i].rows < (encoding->height + factor - 1) / factor) return false;
  }
  return true;
}

/// Encodes one picture, with codes that suit it or, with `plain`, those of ITU-T T.81, K.3.
static clibjpeg_status encode(
    clibjpeg_encoder *encoder, const clibjpeg_encoding *encoding, const clibjpeg_plane planes[3], bool plain) {
  struct jpeg_compress_struct *jpeg = &encoder->jpeg;
  growing_buffer *output = &encoder->output;
  // Makes a new compressor for every picture, because a used one keeps tables, and equal pictures must give equal
  // bytes.
  memset(jpeg, 0, sizeof *jpeg);
  jpeg->err = clibjpeg_trap_init(&encoder->trap);
  if (setjmp(encoder->trap.landing)) {
    jpeg_destroy_compress(jpeg);
    return encoder->trap.status;
  }
  if (!is_sound(encoding, planes)) {
    clibjpeg_trap_throw(&encoder->trap, CLIBJPEG_BAD_CALL, "planes do not fit the picture");
  }
  if (output->bytes == NULL) {
    output->capacity = (size_t)32 << 10;
    output->bytes = malloc(output->capacity);
    if (output->bytes == NULL) {
      clibjpeg_trap_throw(&encoder->trap, CLIBJPEG_NO_MEMORY, "no memory for the encoded thumbnail");
    }
  }
  output->trap = &encoder->trap;
  output->most = 0;
  output->exceeded = false;
  output->manager.init_destination = init_destination;
  output->manager.term_destination = term_destination;

  jpeg_create_compress(jpeg);
  jpeg->client_data = encoder;
  jpeg->progress = &encoder->progress;
  encoder->progress.progress_monitor = progress_monitor;
  jpeg->dest = &output->manager;
  set_up(jpeg, encoding);
  if (plain) jpeg->optimize_coding = FALSE;
  if (!plain) choose_codes(encoder, encoding, planes);
  output->manager.empty_output_buffer = empty_output_buffer;
  jpeg_start_compress(jpeg, TRUE);
  if (encoding->exif_size > 0) {
    jpeg_write_marker(jpeg, JPEG_APP0 + 1, encoding->exif, (unsigned)encoding->exif_size);
  }
  if (encoding->icc_size > 0) jpeg_write_icc_profile(jpeg, encoding->icc, (unsigned)encoding->icc_size);
  write_planes(jpeg, planes, (mcu_rows){.first = 0, .step = 1});
  jpeg_finish_compress(jpeg);
  jpeg_destroy_compress(jpeg);
  return CLIBJPEG_OK;
}

clibjpeg_status clibjpeg_encoder_encode(
    clibjpeg_encoder *encoder, const clibjpeg_encoding *encoding, const clibjpeg_plane planes[3], const uint8_t **bytes,
    size_t *size) {
  clibjpeg_status status = encode(encoder, encoding, planes, false);
  if (status != CLIBJPEG_OK && encoder->output.exceeded) status = encode(encoder, encoding, planes, true);
  *bytes = encoder->output.bytes;
  *size = encoder->output.capacity - encoder->output.manager.free_in_buffer;
  return status;
}

const char *clibjpeg_encoder_message(const clibjpeg_encoder *encoder) { return encoder->trap.message; }
