// Wraps libjpeg(-turbo)'s classic API in opaque handles and status codes, so that callers need no setjmp, use no struct
// whose size depends on the library's version, and get no warnings on stderr.
//
// Pictures are planes of raw samples (libjpeg.txt, "Raw (downsampled) image data"): nothing is upsampled and no colour
// is converted here. A handle belongs to one thread at a time; handles share nothing.

#ifndef CLIBJPEG_H
#define CLIBJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pointers are _Nonnull unless they say otherwise.
#pragma clang assume_nonnull begin

#define CLIBJPEG_MAX_COMPONENTS 4
#define CLIBJPEG_MESSAGE_SIZE 200

/// The largest width and height that libjpeg reads or writes, in pixels (JPEG_MAX_DIMENSION in jmorecfg.h).
#define CLIBJPEG_MAX_DIMENSION 65500

/// The most scans that are decoded. A progressive file rarely has more than 12, and each scan takes a pass over all
/// coefficients.
#define CLIBJPEG_SCAN_LIMIT 500

/// How a call ended. After any status but CLIBJPEG_OK a decoder can only be destroyed.
typedef enum clibjpeg_status {
  CLIBJPEG_OK = 0,
  CLIBJPEG_CANCELLED,       ///< the caller's `cancelled` returned true
  CLIBJPEG_READ_FAILED,     ///< the caller's `read` returned -1
  CLIBJPEG_TRUNCATED,       ///< the data ends before the picture does
  CLIBJPEG_DAMAGED,         ///< the data breaks the format, and decoding cannot go on
  CLIBJPEG_CORRUPT,         ///< samples are wrong, and the caller does not tolerate that
  CLIBJPEG_WARNED,          ///< a harmless warning, and the caller tolerates none
  CLIBJPEG_UNSUPPORTED,     ///< a JPEG, but of a kind libjpeg does not decode
  CLIBJPEG_TOO_MANY_SCANS,  ///< more scans than the limit: a decompression bomb
  CLIBJPEG_NO_MEMORY,
  CLIBJPEG_BAD_CALL,        ///< a plane was too small, or functions were called in the wrong order
} clibjpeg_status;

/// Classes of libjpeg's warnings. libjpeg goes on decoding after a warning.
typedef enum clibjpeg_warning {
  CLIBJPEG_WARNING_TRUNCATED = 0,  ///< samples are missing at the end
  CLIBJPEG_WARNING_DAMAGED,        ///< samples are wrong
  CLIBJPEG_WARNING_HARMLESS,       ///< all samples are right
  CLIBJPEG_WARNING_CLASSES,
} clibjpeg_warning;

/// The harmless warning for a progressive file in which some bits of coefficients have no scan.
#define CLIBJPEG_LACKS_SCANS "its last scans are missing, which would show details"

/// JPEG colour spaces. libjpeg derives them from the header's markers and component identifiers (libjpeg.txt, "Special
/// color spaces").
typedef enum clibjpeg_color {
  CLIBJPEG_GREY = 1,
  CLIBJPEG_RGB,
  CLIBJPEG_YCC,
  CLIBJPEG_CMYK,
  CLIBJPEG_YCCK,
} clibjpeg_color;

/// The source of the bytes. Both functions must return normally, because libjpeg calls them.
typedef struct clibjpeg_input {
  void *context;
  /// Reads up to `capacity` bytes, beginning at the file's byte `offset`. Returns the number of bytes read, 0 at the
  /// end, or -1 on failure.
  ptrdiff_t (*read)(void *context, uint64_t offset, uint8_t *into, size_t capacity);
  /// Whether to stop. Called at least once for every row of blocks decoded and every window of bytes read.
  bool (*cancelled)(void *context);
} clibjpeg_input;

/// One component's plane of 8-bit samples, `rows` × `columns`, row `r` at `data + r * stride`.
typedef struct clibjpeg_plane {
  uint8_t *_Nullable data;  ///< NULL if the picture has no such component
  size_t stride;
  size_t rows;
} clibjpeg_plane;

typedef struct clibjpeg_header {
  uint32_t width, height;  ///< pixels, as stored
  int components;
  clibjpeg_color color;
  bool progressive;
  bool arithmetic;   ///< arithmetic rather than Huffman coding
  bool multiscan;    ///< several scans or progressive, so libjpeg holds every coefficient: 2 bytes each
  int h[CLIBJPEG_MAX_COMPONENTS], v[CLIBJPEG_MAX_COMPONENTS];  ///< sampling factors, 1-4
  const uint8_t *_Nullable exif;  ///< the APP1 payload after "Exif\0\0", or NULL; lives as long as the decoder
  size_t exif_size;
  /// The colour profile, joined from its APP2 chunks; lives as long as the decoder. NULL if there is no profile, if
  /// chunks are missing or contradict each other, if the profile is over the size limit, and if only its size is kept.
  const uint8_t *_Nullable icc;
  size_t icc_size;
} clibjpeg_header;

/// The size of one component's plane at the chosen scale.
typedef struct clibjpeg_plane_layout {
  size_t columns, rows;         ///< samples of the picture, rounded up
  size_t min_stride, min_rows;  ///< the least size of the plane's memory, which holds whole MCUs
  size_t band_rows;             ///< rows of a band, which is a row of MCUs; `min_rows` is a multiple
  double columns_exact, rows_exact;  ///< samples of the picture, with the fraction of the last one
} clibjpeg_plane_layout;

typedef struct clibjpeg_decoder clibjpeg_decoder;

/// Makes a decoder for one picture. Returns NULL if memory runs out.
clibjpeg_decoder *_Nullable clibjpeg_decoder_create(const clibjpeg_input *input);
void clibjpeg_decoder_destroy(clibjpeg_decoder *_Nullable decoder);

/// Reads up to the first scan. In `fail_mask`, bit `1 << clibjpeg_warning` is set for each class of warning that ends
/// decoding. With `measures`, the size of the colour profile is kept, but not its bytes.
clibjpeg_status clibjpeg_decoder_read_header(
    clibjpeg_decoder *decoder, unsigned fail_mask, bool measures, clibjpeg_header *header);

/// Chooses the scale 1/`denominator` (1, 2, 4 or 8) and fills in the layout of each component's plane.
clibjpeg_status clibjpeg_decoder_set_scale(
    clibjpeg_decoder *decoder, unsigned denominator, clibjpeg_plane_layout layout[_Nonnull CLIBJPEG_MAX_COMPONENTS]);

/// Decodes the whole picture into one plane for each component. Each plane must be at least as large as its layout.
/// Samples that the data leaves out become mid-grey. After a failure the contents of the planes are undefined.
///
/// With `skip_fine_scans`, scans of a progressive file that only refine the last bit of AC coefficients are not
/// decoded. They are often half of the file, and are not visible at a smaller scale. Nothing is skipped if this libjpeg
/// does not allow it or if the file's quality is low. Errors inside skipped scans are not noticed. If scans are
/// skipped, a file without an EOI marker is CLIBJPEG_TRUNCATED; a decoder that skips nothing can find out whether
/// samples are missing.
clibjpeg_status clibjpeg_decoder_decode(
    clibjpeg_decoder *decoder, bool skip_fine_scans, const clibjpeg_plane planes[_Nonnull CLIBJPEG_MAX_COMPONENTS]);

/// Begins to decode a picture in bands from top to bottom, as `clibjpeg_decoder_decode` does as a whole. The scans of a
/// file that has several are read here.
clibjpeg_status clibjpeg_decoder_start(clibjpeg_decoder *decoder, bool skip_fine_scans);

/// Decodes the next band into the first rows of each plane. There are `min_rows` / `band_rows` bands.
clibjpeg_status clibjpeg_decoder_read_band(
    clibjpeg_decoder *decoder, const clibjpeg_plane planes[_Nonnull CLIBJPEG_MAX_COMPONENTS]);

/// Reads what follows the last band.
clibjpeg_status clibjpeg_decoder_finish(clibjpeg_decoder *decoder);

/// The message of the last failure: one line.
const char *clibjpeg_decoder_message(const clibjpeg_decoder *decoder);

/// The number of warnings of a class.
long clibjpeg_decoder_warning_count(const clibjpeg_decoder *decoder, clibjpeg_warning warning);

/// The message of the first warning of a class, or an empty string.
const char *clibjpeg_decoder_warning_message(const clibjpeg_decoder *decoder, clibjpeg_warning warning);

/// A baseline picture with at least this many rows of MCUs gets Huffman codes that suit a sample of these rows. Codes that
/// suit all rows need a second pass over all coefficients, which have to be held until then: it takes more time than the
/// first pass, and twice the memory of the samples.
#define CLIBJPEG_SAMPLED_FROM 32

typedef struct clibjpeg_encoding {
  uint32_t width, height;  ///< pixels
  bool grey;               ///< one plane; otherwise three, YCbCr
  bool half_chroma;        ///< 4:2:0: the second and third planes have half the columns and rows, rounded up
  bool progressive;
  int quality;  ///< 1-100
  /// If the file outgrows this size with codes of a sample, these do not suit the picture, and the encoder starts again
  /// with the codes of ITU-T T.81, K.3. 0 means no limit.
  size_t expected_size;
  const uint8_t *_Nullable exif;  ///< an APP1 payload with its "Exif\0\0", or NULL
  size_t exif_size;               ///< at most 65533
  const uint8_t *_Nullable icc;   ///< a profile, or NULL
  size_t icc_size;
} clibjpeg_encoding;

typedef struct clibjpeg_encoder clibjpeg_encoder;

/// Makes an encoder for any number of pictures. Returns NULL if memory runs out.
clibjpeg_encoder *_Nullable clibjpeg_encoder_create(void);
void clibjpeg_encoder_destroy(clibjpeg_encoder *_Nullable encoder);

/// Makes the encoder call `cancelled` for every row of MCUs, and end with CLIBJPEG_CANCELLED once it returns true.
/// `cancelled` must return normally, because libjpeg calls it.
void clibjpeg_encoder_watch(clibjpeg_encoder *encoder, bool (*cancelled)(void *context), void *context);

/// Ends clibjpeg_encoder_watch().
void clibjpeg_encoder_unwatch(clibjpeg_encoder *encoder);

/// Encodes one picture with a JFIF header and optimised Huffman tables: those of a large baseline picture suit a sample
/// of it. The bytes live until the next call on the encoder.
clibjpeg_status clibjpeg_encoder_encode(
    clibjpeg_encoder *encoder, const clibjpeg_encoding *encoding, const clibjpeg_plane planes[_Nonnull 3],
    const uint8_t *_Nullable *_Nonnull bytes, size_t *size);

/// Frees the output buffer if it is larger than `most` bytes.
void clibjpeg_encoder_shrink(clibjpeg_encoder *encoder, size_t most);

/// Frees the output buffer.
void clibjpeg_encoder_trim(clibjpeg_encoder *encoder);

/// The message of the last failure: one line.
const char *clibjpeg_encoder_message(const clibjpeg_encoder *encoder);

#pragma clang assume_nonnull end

#endif
