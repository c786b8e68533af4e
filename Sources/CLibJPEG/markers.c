#include "decoder.h"

#include <stdlib.h>
#include <string.h>

static const char exif_name[6] = "Exif\0";       // six bytes, two of them zero
static const char icc_name[12] = "ICC_PROFILE";  // twelve bytes with the final zero

static void next_bytes(j_decompress_ptr jpeg, uint8_t *into, size_t count) {
  while (count > 0) {
    if (jpeg->src->bytes_in_buffer == 0) jpeg->src->fill_input_buffer(jpeg);
    size_t run = jpeg->src->bytes_in_buffer < count ? jpeg->src->bytes_in_buffer : count;
    memcpy(into, jpeg->src->next_input_byte, run);
    jpeg->src->next_input_byte += run;
    jpeg->src->bytes_in_buffer -= run;
    into += run;
    count -= run;
  }
}

static void skip_bytes(j_decompress_ptr jpeg, size_t count) { jpeg->src->skip_input_data(jpeg, (long)count); }

/// Reads a segment's two length bytes, which include themselves, and returns the payload's size.
static size_t payload_size(j_decompress_ptr jpeg) {
  unsigned high = clibjpeg_next_byte(jpeg);
  unsigned length = high << 8 | clibjpeg_next_byte(jpeg);
  return length < 2 ? 0 : length - 2;
}

static boolean read_app1(j_decompress_ptr jpeg) {
  clibjpeg_markers *markers = &clibjpeg_decoder_of((j_common_ptr)jpeg)->markers;
  size_t left = payload_size(jpeg);
  uint8_t name[sizeof exif_name];
  if (markers->exif == NULL && left > sizeof name) {
    next_bytes(jpeg, name, sizeof name);
    left -= sizeof name;
    uint8_t *kept = memcmp(name, exif_name, sizeof name) == 0 ? malloc(left) : NULL;
    if (kept != NULL) {
      markers->exif = kept;  // before the read below, which may jump out
      next_bytes(jpeg, kept, left);
      markers->exif_size = left;
      left = 0;
    }
  }
  skip_bytes(jpeg, left);
  return TRUE;
}

/// Makes room for exactly `more` bytes of the profile, because chunks are large and few. Returns false if that exceeds
/// the limit or if memory runs out.
static bool reserve_icc(clibjpeg_markers *markers, size_t more) {
  if (more > CLIBJPEG_MAX_ICC_SIZE - markers->icc_size) return false;
  if (markers->measures) return true;
  uint8_t *grown = realloc(markers->icc, markers->icc_size + more);
  if (grown == NULL) return false;
  markers->icc = grown;
  return true;
}

static boolean read_app2(j_decompress_ptr jpeg) {
  clibjpeg_markers *markers = &clibjpeg_decoder_of((j_common_ptr)jpeg)->markers;
  size_t left = payload_size(jpeg);
  uint8_t name[sizeof icc_name];
  if (left > sizeof name + 2 && !markers->icc_refused) {
    next_bytes(jpeg, name, sizeof name);
    left -= sizeof name;
    if (memcmp(name, icc_name, sizeof name) == 0) {
      unsigned sequence = clibjpeg_next_byte(jpeg), total = clibjpeg_next_byte(jpeg);
      left -= 2;
      if (markers->chunk_total == 0) {
        markers->chunk_total = total;
        markers->icc_in_order = true;
      }
      bool fits = total == markers->chunk_total && sequence >= 1 && sequence <= total &&
                  markers->chunk_size[sequence] == 0 && reserve_icc(markers, left);
      if (fits) {
        if (sequence > 1 && markers->chunk_size[sequence - 1] == 0) markers->icc_in_order = false;
        if (markers->measures) {
          skip_bytes(jpeg, left);
        } else {
          next_bytes(jpeg, markers->icc + markers->icc_size, left);
        }
        markers->chunk_start[sequence] = markers->icc_size;
        markers->chunk_size[sequence] = left;
        markers->icc_size += left;
        left = 0;
      } else {
        markers->icc_refused = true;
      }
    }
  }
  skip_bytes(jpeg, left);
  return TRUE;
}

void clibjpeg_markers_install(j_decompress_ptr jpeg) {
  jpeg_set_marker_processor(jpeg, JPEG_APP0 + 1, read_app1);
  jpeg_set_marker_processor(jpeg, JPEG_APP0 + 2, read_app2);
}

static void refuse_icc(clibjpeg_markers *markers) {
  free(markers->icc);
  markers->icc = NULL;
  markers->icc_size = 0;
}

void clibjpeg_markers_finish(clibjpeg_markers *markers) {
  for (unsigned i = 1; i <= markers->chunk_total; i++) {
    if (markers->chunk_size[i] == 0) markers->icc_refused = true;
  }
  if (!markers->icc_refused && markers->icc_size > 0 && !markers->icc_in_order && !markers->measures) {
    uint8_t *ordered = malloc(markers->icc_size);
    size_t filled = 0;
    if (ordered == NULL) markers->icc_refused = true;
    for (unsigned i = 1; ordered != NULL && i <= markers->chunk_total; i++) {
      memcpy(ordered + filled, markers->icc + markers->chunk_start[i], markers->chunk_size[i]);
      filled += markers->chunk_size[i];
    }
    if (ordered != NULL) {
      free(markers->icc);
      markers->icc = ordered;
    }
  }
  if (markers->icc_refused) refuse_icc(markers);
}

void clibjpeg_markers_free(clibjpeg_markers *markers) {
  free(markers->exif);
  free(markers->icc);
  memset(markers, 0, sizeof *markers);
}
