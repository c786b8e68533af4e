// What thumbjob asks of its decoder process, and what that answers: structures without pointers, which both processes read
// in shared memory. Numbers are in the byte order of the machine.
//
// One picture becomes at most four planes of 8-bit samples. Each sample is the mean of a rectangle of the picture's samples,
// so the planes are at most a few times larger than the thumbnail, whatever the size of the picture.

#ifndef CDECODING_H
#define CDECODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

#define CDECODING_MAX_COMPONENTS 4
#define CDECODING_MESSAGE_SIZE 200

/// The most warnings of a picture: one for each cdecoding_warning.
#define CDECODING_MAX_WARNINGS 3

/// Classes of flaws that do not end decoding by themselves. JPEG has all, TIFF and AV1 the last two, other formats the last.
typedef enum cdecoding_warning {
  CDECODING_WARNING_TRUNCATED = 0,  ///< samples are missing at the end
  CDECODING_WARNING_DAMAGED,        ///< samples are wrong
  CDECODING_WARNING_HARMLESS,       ///< all samples are right
} cdecoding_warning;

/// The most samples of the picture, along one axis, whose mean is one sample of a plane. Sums of 128 × 128 samples of 16
/// bits fit into 32 bits.
#define CDECODING_MAX_SHRINK 128

/// The most pictures that lie on each other.
#define CDECODING_MAX_OVERLAYS 64

/// How many pixels a picture of HEVC may be coded wider and higher than its tile. It has whole blocks, and some encoders code
/// at least 160 × 64 pixels, of which their parameter sets cut off what is outside the tile.
#define CDECODING_MAX_PADDING 160

/// The largest width and height of a picture, in pixels.
#define CDECODING_MAX_SIDE 1000000

/// How a coded picture is decoded.
typedef enum cdecoding_kind {
  CDECODING_PNG = 1,
  CDECODING_GIF,
  CDECODING_WEBP,
  CDECODING_TIFF,
  CDECODING_HEVC,  ///< the tiles of a HEIF picture
  CDECODING_AV1,   ///< the tiles of an AVIF picture
  CDECODING_JPEG,  ///< a JPEG file, or one in the file
} cdecoding_kind;

/// How decoding or encoding ended.
typedef enum cdecoding_status {
  CDECODING_OK = 0,
  CDECODING_CANCELLED,    ///< the caller's `proceed` returned false
  CDECODING_READ_FAILED,  ///< the caller's `read` returned -1
  CDECODING_TRUNCATED,    ///< the data ends before the picture does
  CDECODING_DAMAGED,      ///< the data breaks the format
  CDECODING_UNSUPPORTED,  ///< a picture of a kind that the library does not decode
  CDECODING_CORRUPT,      ///< samples are wrong, and the fail mask does not tolerate that
  CDECODING_IMPERFECT,    ///< JPEG: a harmless warning, and the fail mask tolerates none
  CDECODING_TOO_MANY_SCANS,  ///< JPEG: a decompression bomb
  CDECODING_NO_MEMORY,    ///< more memory is needed than this process may have
  CDECODING_BAD_CALL,     ///< the request contradicts itself: a fault of the caller
} cdecoding_status;

/// One plane of 8-bit samples, and the component of the picture that it is made of. A component's samples lie on a grid that
/// may be coarser than the picture's pixels (chroma of 4:2:0).
typedef struct cdecoding_plane {
  uint32_t width, height;      ///< samples of the component, whole picture
  uint32_t shrink_x, shrink_y; ///< 1 to CDECODING_MAX_SHRINK
  uint32_t columns, rows;      ///< samples of the plane: width / shrink_x and height / shrink_y, rounded up
  uint8_t low, high;           ///< the values of 8 bits that become 0 and 255: 16 and 235 for luma of limited range
  uint64_t offset;             ///< where the plane is in the memory for planes; its rows follow each other without padding
} cdecoding_plane;

/// A part of the file.
typedef struct cdecoding_extent {
  uint64_t offset, size;  ///< bytes
} cdecoding_extent;

/// One coded picture of several (HEVC, AV1) that make up the whole one. WebP has exactly one: the first frame, which may
/// cover a part of the picture.
typedef struct cdecoding_tile {
  int32_t x, y;                          ///< where its first pixel is in the picture; what is outside is left out
  uint32_t width, height;                ///< pixels, as the container says; a tile of another size is damaged
  /// Its data: these extents, one after the other. WebP: its chunks with their headers, `ALPH` first if there is one.
  uint32_t first_extent, extent_count;
  cdecoding_extent configuration;        ///< its decoder configuration record (the contents of the box hvcC or av1C)
  bool is_alpha;                         ///< its luma is the alpha of the picture
  uint8_t shown_layer;                   ///< AV1: one more than the number of the layer that is shown; 0 for the last one
} cdecoding_tile;

/// What is to be decoded.
///
/// The picture's alpha, if it has any, is mixed with the background: colours weighted by their alpha are added up, then the
/// background is added with the weight that is left.
typedef struct cdecoding_request {
  cdecoding_kind kind;
  uint32_t width, height;  ///< pixels of the picture, as its header says; a picture of another size is damaged
  uint32_t plane_count;    ///< 1 grey; 3 RGB, or luma and chroma; 4 CMYK
  cdecoding_plane planes[CDECODING_MAX_COMPONENTS];
  /// The value of each component where the picture is transparent. With 0 for all, samples are multiplied by their alpha.
  uint8_t background[CDECODING_MAX_COMPONENTS];
  /// Whether alpha becomes a plane too, of the size of the first plane, at `alpha_offset` in the memory for planes.
  bool keeps_alpha;
  uint64_t alpha_offset;
  /// TIFF: the offset of the directory of the page to decode.
  uint64_t directory;
  /// WebP: the size to which its decoder scales before samples are averaged; the picture's own size if it does not scale,
  /// as for a frame that does not cover the picture. The components of the planes have this size.
  uint32_t scaled_width, scaled_height;
  /// PNG: the compressed profile is inflated into the memory for planes at this offset, if it has at most so many bytes.
  uint64_t profile_offset, profile_capacity;
  /// HEVC, AV1 and WebP. Tiles with alpha come first, except for overlays. JPEG has no tiles and one extent: the file.
  uint32_t tile_count, extent_count;
  /// JPEG: the scale is 1/`denominator`. The columns and rows of its planes are those of their memory, which holds whole MCUs;
  /// nothing is averaged.
  uint32_t denominator;
  /// A bit for each cdecoding_warning that ends decoding. JPEG heeds all, TIFF and AV1 that of CDECODING_WARNING_DAMAGED.
  uint32_t fail_mask;
  /// HEVC and AV1: whether the coded components are green, blue and red. The planes are always red, green and blue.
  bool is_gbr;
  /// HEVC and AV1: whether the coded colours are multiplied by their alpha already.
  bool is_premultiplied;
  /// HEVC and AV1: whether tiles lie on each other, earlier ones above, on a canvas that has the background's colour. There are at
  /// most CDECODING_MAX_OVERLAYS, and before each there may be a tile with its alpha, of the same size and at the same place.
  bool is_overlay;
} cdecoding_request;

/// How it went.
typedef struct cdecoding_reply {
  cdecoding_status status;
  /// Why there is no picture: one line without the name of the format or the file; empty if there is a picture.
  char message[CDECODING_MESSAGE_SIZE];
  /// What is wrong with the file although there is a picture, for each cdecoding_warning; empty where there is nothing.
  char warnings[CDECODING_MAX_WARNINGS][CDECODING_MESSAGE_SIZE];
  /// PNG: the size of the profile that was inflated; 0 if there is none, or if it is too large or damaged.
  uint64_t profile_size;
  /// After encoding: the size of the file.
  uint64_t file_size;
} cdecoding_reply;

/// The source of the bytes. The functions must return normally, because libraries call them.
typedef struct cdecoding_input {
  void *_Nullable context;
  /// The file's size in bytes.
  uint64_t size;
  /// Reads up to `capacity` bytes, beginning at the file's byte `offset`. Returns the number of bytes read, 0 at the end, or
  /// -1 on failure.
  ptrdiff_t (*read)(void *_Nullable context, uint64_t offset, uint8_t *into, size_t capacity);
  /// Whether to go on. Called at least once for every 64 rows or tile; `done` is the fraction of the picture that is decoded,
  /// 0 to 1.
  bool (*proceed)(void *_Nullable context, double done);
} cdecoding_input;

#pragma clang assume_nonnull end

#endif
