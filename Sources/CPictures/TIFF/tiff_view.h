// The part of a TIFF file that libtiff sees: one page's directory and its samples.

#ifndef TIFF_VIEW_H
#define TIFF_VIEW_H

#include <tiffio.h>

#include "decoding.h"

#pragma clang assume_nonnull begin

/// The file as libtiff sees it.
typedef struct view {
  decoding *call;
  /// The header and the directory that take the place of the file's.
  uint8_t header[16];
  size_t header_size;
  uint8_t *_Nullable directory;
  size_t directory_size;
  /// Whether the file's directory says what extra samples are.
  bool names_extra_samples;
  /// Whether a read has met the end of the file.
  bool has_ended;
  /// Whether samples are being decoded. What libtiff says of a directory is not told, unless it fails.
  bool is_decoding;
  /// The first error that libtiff has reported.
  char error[CDECODING_MESSAGE_SIZE];
  /// Whether the JPEG data of the present strip or tile have ended without their EOI marker.
  bool has_jpeg_ended;
} view;

/// One libtiff reader of the file. Each has its own place, and decodes one strip or tile at a time.
typedef struct reader {
  view *file;
  uint64_t position;
  TIFF *_Nullable tiff;
} reader;

/// Makes the header and the directory that libtiff sees. If that fails, so has the call.
bool tiff_view_read(view *file);

/// Opens a reader, which must stay where it is. Its `tiff` is NULL if libtiff cannot read the directory.
bool tiff_view_open(reader *opened, view *file);

/// Records why libtiff has failed.
void tiff_view_fail(view *file);

/// Before libtiff decodes a strip or tile: forgets what it has said of others.
void tiff_view_begin_piece(view *file);

/// Judges what libtiff has said while it decoded. Returns false if the call has failed.
bool tiff_view_accepts(view *file);

#pragma clang assume_nonnull end

#endif
