// What thumbjob asks of its encoder process: structures without pointers, which both processes read in shared memory. Numbers
// are in the byte order of the machine.

#ifndef CENCODING_H
#define CENCODING_H

#include "cdecoding.h"

#pragma clang assume_nonnull begin

/// The format of the file.
typedef enum cencoding_format {
  CENCODING_WEBP = 1,
  CENCODING_AVIF,
  CENCODING_PNG,
} cencoding_format;

/// The meaning of the planes, without that of alpha.
typedef enum cencoding_samples {
  CENCODING_GREY = 1,  ///< one plane
  CENCODING_YCC,       ///< luma and chroma of JPEG (ITU-T T.871), of full range; chroma may have half of the rows and columns
  CENCODING_RGB,
} cencoding_samples;

/// The most planes of a picture: three and its alpha.
#define CENCODING_MAX_PLANES 4

/// One plane of 8-bit samples. Its rows follow each other without padding.
typedef struct cencoding_plane {
  uint64_t offset;  ///< in the memory of the request
  uint32_t columns, rows;
} cencoding_plane;

/// A picture that is to be encoded. Its planes and metadata are in the memory of the request, and the file is put there too.
///
/// The encoder may change the planes.
typedef struct cencoding_request {
  cencoding_format format;
  uint32_t width, height;  ///< pixels
  cencoding_samples samples;
  /// The last plane is alpha, if there is one. Colours are not multiplied by it.
  cencoding_plane planes[CENCODING_MAX_PLANES];
  bool has_alpha;
  /// WebP: whether all samples stay as they are. They are then red, green and blue, or grey.
  bool is_lossless;
  /// WebP: 0 to 100. AVIF: the quantizer, 63 to 0.
  uint8_t quality;
  /// How much time is spent on smaller files, 0 to 9.
  uint8_t effort;
  uint32_t reserved;
  /// The TIFF structure with the EXIF tags, and the colour profile; of size 0 if there is none.
  cdecoding_extent exif, profile;
  /// The memory for the file.
  cdecoding_extent file;
} cencoding_request;

/// Receives the progress of an encoder.
typedef struct cencoding_progress {
  void *_Nullable context;
  /// `done` is the fraction of the picture that is encoded, 0 to 1. The function must return normally, because libraries call it.
  void (*advance)(void *_Nullable context, double done);
} cencoding_progress;

#pragma clang assume_nonnull end

#endif
