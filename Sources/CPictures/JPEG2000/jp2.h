// A JPEG 2000 picture while it is decoded: what its parts share.

#ifndef JP2_H
#define JP2_H

#include <openjpeg.h>

#include "accumulator.h"
#include "decoding.h"

#pragma clang assume_nonnull begin

enum {
  /// The most components, and channels, of a picture.
  jp2_most_components = 16,
  /// Asks whether to go on after so many tile-parts or rows.
  jp2_steps_between_checks = 64,
};

/// The extents of the request.
enum { codestream_extent, palette_extent, mapping_extent, definition_extent, extents_of_picture };

/// The samples of a component that are decoded: those of the picture or of a tile.
typedef struct samples {
  uint32_t x, y;  ///< in the component of the whole picture
  uint32_t width, height;
  unsigned bytes;  ///< of each, 1, 2 or 4
  const uint8_t *_Nullable bytes_of_rows;
} samples;

/// A component, at the resolution that remains.
typedef struct component {
  uint32_t across, down;  ///< the steps of its grid, in units of the reference grid
  unsigned bits;
  bool is_signed;
  /// Where its first sample is in its grid.
  uint32_t left, top;
  uint32_t width, height;
  samples part;
} component;

/// A channel: a component, or a column of the palette with a component that has its indices.
typedef struct channel {
  unsigned component;
  bool has_palette;
  unsigned column;
} channel;

/// A column of the palette, in 8 bits.
typedef struct palette {
  unsigned entries, columns;
  uint8_t *_Nullable values;  ///< the entries of each column follow each other
} palette;

typedef struct jp2_reading {
  decoding *call;
  cdecoding_extent codestream;
  /// Whether the codestream lacks its last marker, which is then added.
  bool lacks_end;
  /// What OpenJPEG has read, in bytes of the codestream.
  uint64_t position;
  /// Whether more bytes were asked for than the codestream has.
  bool has_ended;
  /// What is done, for `proceed`.
  double done;
  /// The first error of OpenJPEG.
  char message[CDECODING_MESSAGE_SIZE];
  bool is_out_of_memory;

  opj_codec_t _Nullable *_Nullable codec;
  opj_stream_t _Nullable *_Nullable stream;
  opj_image_t *_Nullable image;
  unsigned component_count;
  component components[jp2_most_components];
  unsigned channel_count;
  channel channels[jp2_most_components];
  palette palette;
  /// The channel of each plane, and of alpha.
  unsigned colors[CDECODING_MAX_COMPONENTS];
  unsigned alpha;
  bool has_alpha;

  accumulator sums;
  /// Memory for rows, as wide as the widest component and one sample more.
  uint16_t *_Nullable words;
  uint8_t *_Nullable bytes, *_Nullable opacities;
} jp2_reading;

// jp2_codestream.c

/// Records why OpenJPEG has failed.
void jp2_fail(jp2_reading *reading);

/// Records that there was not enough memory. Returns false.
bool jp2_fail_for_memory(jp2_reading *reading);

/// Records that the file breaks the format. Returns false.
bool jp2_fail_as_damaged(jp2_reading *reading, const char *reason);

/// Finds out whether the codestream is whole although it does not end with its last marker. Some programs do not write that,
/// others add bytes after it. If data are missing, the call fails.
bool jp2_check_end(jp2_reading *reading);

/// Opens the codestream, and reads its main header. Returns false if the call has failed.
bool jp2_open(jp2_reading *reading);

// jp2_channels.c

/// Reads the boxes that say which component each channel has, and which channel each colour has. Returns false if the call has
/// failed.
bool jp2_read_channels(jp2_reading *reading);

/// Whether a plane has a sample for each pixel although its component has fewer.
bool jp2_is_spread(jp2_reading *reading, unsigned plane_index);

// jp2_rows.c

/// Adds the parts of all components. Returns false if the call has failed.
bool jp2_add_part(jp2_reading *reading);

/// The component of a channel.
static inline component *jp2_component_of(jp2_reading *reading, unsigned channel_index) {
  return &reading->components[reading->channels[channel_index].component];
}

/// A number of so many bits as one of 8.
static inline uint8_t jp2_to_8_bits(uint32_t value, unsigned bits) {
  uint32_t most = (uint32_t)(((uint64_t)1 << bits) - 1);
  if (value > most) value = most;
  return (uint8_t)(((uint64_t)value * 255 + most / 2) / most);
}

#pragma clang assume_nonnull end

#endif
