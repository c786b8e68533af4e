// libjpeg(-turbo)'s classic API behind opaque handles and status codes, so that no caller ever meets a setjmp, a struct
// whose size depends on the library's version, or a warning printed to stderr.
//
// Pictures pass as planes of raw samples (libjpeg.txt, "Raw (downsampled) image data"): no upsampling and no colour
// conversion happens here. A handle belongs to one thread at a time; nothing is shared between handles.

#ifndef CLIBJPEG_H
#define CLIBJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pointers are _Nonnull unless they say otherwise.
#pragma clang assume_nonnull begin

#define CLIBJPEG_MAX_COMPONENTS 4
#define CLIBJPEG_MESSAGE_SIZE 200

/// The widest and highest picture libjpeg reads or writes, in pixels (JPEG_MAX_DIMENSION in jmorecfg.h).
#define CLIBJPEG_MAX_DIMENSION 65500

/// A progressive file rarely has more than 12 scans; each costs a pass over every coefficient.
#define CLIBJPEG_SCAN_LIMIT 500

/// How a call ended. Every status but CLIBJPEG_OK leaves the handle fit for nothing but being destroyed.
typedef enum clibjpeg_status {
  CLIBJPEG_OK = 0,
  CLIBJPEG_CANCELLED,       ///< the caller's `cancelled` said so
  CLIBJPEG_READ_FAILED,     ///< the caller's `read` answered -1
  CLIBJPEG_TRUNCATED,       ///< the data ends before the picture does
  CLIBJPEG_DAMAGED,         ///< the data breaks the rules of the format: nothing can be decoded past that
  CLIBJPEG_CORRUPT,         ///< samples are wrong, where the caller tolerates none
  CLIBJPEG_WARNED,          ///< something harmless, where the caller asked for no tolerance
  CLIBJPEG_UNSUPPORTED,     ///< a JPEG, but of a kind libjpeg does not decode
  CLIBJPEG_TOO_MANY_SCANS,  ///< more scans than the limit: a decompression bomb
  CLIBJPEG_NO_MEMORY,
  CLIBJPEG_BAD_CALL,        ///< the caller passed a plane too small, or called out of turn
} clibjpeg_status;

/// Classes of what libjpeg calls warnings: things it decodes past.
typedef enum clibjpeg_warning {
  CLIBJPEG_WARNING_TRUNCATED = 0,  ///< samples are missing at the end
  CLIBJPEG_WARNING_DAMAGED,        ///< samples are wrong
  CLIBJPEG_WARNING_HARMLESS,       ///< no sample is touched
  CLIBJPEG_WARNING_CLASSES,
} clibjpeg_warning;

/// JPEG colour spaces, as the header's markers and component identifiers tell them (libjpeg.txt, "Special color
/// spaces").
typedef enum clibjpeg_color {
  CLIBJPEG_GREY = 1,
  CLIBJPEG_RGB,
  CLIBJPEG_YCC,
  CLIBJPEG_CMYK,
  CLIBJPEG_YCCK,
} clibjpeg_color;

/// Where the bytes come from. Both functions return normally, whatever happens: they are called from inside libjpeg.
typedef struct clibjpeg_input {
  void *context;
  /// Fills up to `capacity` bytes from the file's byte `offset`. Returns the bytes read, 0 at the end, -1 on failure.
  ptrdiff_t (*read)(void *context, uint64_t offset, uint8_t *into, size_t capacity);
  /// Asked at least once for every row of blocks decoded and for every window of bytes read.
  bool (*cancelled)(void *context);
} clibjpeg_input;

/// One component's plane of 8-bit samples, `rows` × `columns`, row `r` at `data + r * stride`.
typedef struct clibjpeg_plane {
  uint8_t *_Nullable data;  ///< NULL where a picture has no such component
  size_t stride;
  size_t rows;
} clibjpeg_plane;

typedef struct clibjpeg_header {
  uint32_t width, height;  ///< pixels, as stored
  int components;
  clibjpeg_color color;
  bool saw_adobe;    ///< an Adobe APP14 marker is present: CMYK values are stored inverted
  bool progressive;
  bool arithmetic;   ///< arithmetic rather than Huffman coding
  bool multiscan;    ///< libjpeg has to hold every coefficient: 2 bytes a sample
  int h[CLIBJPEG_MAX_COMPONENTS], v[CLIBJPEG_MAX_COMPONENTS];  ///< sampling factors, 1-4
  const uint8_t *_Nullable exif;  ///< the APP1 payload behind "Exif\0\0", or NULL; lives as long as the decoder
  size_t exif_size;
  /// The profile put together from its APP2 chunks; lives as long as the decoder. NULL where there is none, or its chunks
  /// do not fit together, or are over the limit.
  const uint8_t *_Nullable icc;
  size_t icc_size;
} clibjpeg_header;

/// What one component's plane needs at the scale chosen.
typedef struct clibjpeg_plane_layout {
  size_t columns, rows;         ///< samples that carry picture (rounded up; the last may be partial)
  size_t min_stride, min_rows;  ///< what the plane must hold: whole blocks
  double columns_exact, rows_exact;  ///< samples the picture covers, with the fraction of the last one
} clibjpeg_plane_layout;

typedef struct clibjpeg_decoder clibjpeg_decoder;

/// A decoder for one picture, or NULL without memory.
clibjpeg_decoder *_Nullable clibjpeg_decoder_create(const clibjpeg_input *input);
void clibjpeg_decoder_destroy(clibjpeg_decoder *_Nullable decoder);

/// Reads up to the first scan. `fail_mask` has bit `1 << clibjpeg_warning` set for each class of warning to end decoding
/// with. With `measures`, the profile's size is told and its bytes are not kept.
clibjpeg_status clibjpeg_decoder_read_header(
    clibjpeg_decoder *decoder, unsigned fail_mask, bool measures, clibjpeg_header *header);

/// Chooses the scale 1/`denominator` (1, 2, 4 or 8) and tells the planes it takes.
clibjpeg_status clibjpeg_decoder_set_scale(
    clibjpeg_decoder *decoder, unsigned denominator, clibjpeg_plane_layout layout[_Nonnull CLIBJPEG_MAX_COMPONENTS]);

/// Decodes the whole picture into one plane for each component, each at least as large as its layout. Whatever was in a
/// plane before, samples the data leaves out come out mid-grey. After a failure the planes hold nothing of use.
///
/// With `skip_fine_scans`, the scans of a progressive file that tell the last bit of coefficients other than a block's
/// mean are passed over unread, where this libjpeg allows it and the file's quality is not low: often half of the file, and
/// at a smaller scale nothing that is seen. Faults inside what is passed over go unnoticed, but for the file's end: a file without its end marker is
/// CLIBJPEG_TRUNCATED here, and a decoder that skips nothing can tell more.
clibjpeg_status clibjpeg_decoder_decode(
    clibjpeg_decoder *decoder, bool skip_fine_scans, const clibjpeg_plane planes[_Nonnull CLIBJPEG_MAX_COMPONENTS]);

/// The last failure's message: one line, never NULL.
const char *clibjpeg_decoder_message(const clibjpeg_decoder *decoder);

/// How many warnings of a class there were.
long clibjpeg_decoder_warning_count(const clibjpeg_decoder *decoder, clibjpeg_warning warning);

/// The first warning of a class, or an empty string.
const char *clibjpeg_decoder_warning_message(const clibjpeg_decoder *decoder, clibjpeg_warning warning);

typedef struct clibjpeg_encoding {
  uint32_t width, height;  ///< pixels
  bool grey;               ///< one plane; otherwise three, YCbCr
  bool half_chroma;        ///< 4:2:0: the second and third plane have half the columns and rows, rounded up
  bool progressive;
  int quality;  ///< 1-100
  const uint8_t *_Nullable exif;  ///< an APP1 payload with its "Exif\0\0", or NULL
  size_t exif_size;               ///< at most 65533
  const uint8_t *_Nullable icc;   ///< a profile, or NULL
  size_t icc_size;
} clibjpeg_encoding;

typedef struct clibjpeg_encoder clibjpeg_encoder;

/// An encoder, good for any number of pictures one after the other, or NULL without memory.
clibjpeg_encoder *_Nullable clibjpeg_encoder_create(void);
void clibjpeg_encoder_destroy(clibjpeg_encoder *_Nullable encoder);

/// From now on `cancelled` is asked for every row of blocks whether to end with CLIBJPEG_CANCELLED. It returns normally,
/// whatever happens: it is called from inside libjpeg.
void clibjpeg_encoder_watch(clibjpeg_encoder *encoder, bool (*cancelled)(void *context), void *context);

/// From now on nothing is asked.
void clibjpeg_encoder_unwatch(clibjpeg_encoder *encoder);

/// Encodes one picture with a JFIF header and optimised tables. The bytes live until the next call on the encoder.
clibjpeg_status clibjpeg_encoder_encode(
    clibjpeg_encoder *encoder, const clibjpeg_encoding *encoding, const clibjpeg_plane planes[_Nonnull 3],
    const uint8_t *_Nullable *_Nonnull bytes, size_t *size);

/// Gives the output buffer back if it is larger than `most` bytes.
void clibjpeg_encoder_shrink(clibjpeg_encoder *encoder, size_t most);

/// Gives the output buffer back.
void clibjpeg_encoder_trim(clibjpeg_encoder *encoder);

/// The last failure's message: one line, never NULL.
const char *clibjpeg_encoder_message(const clibjpeg_encoder *encoder);

#pragma clang assume_nonnull end

#endif
