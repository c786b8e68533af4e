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
  CDECODING_RASTER,  ///< rows of pixels that need no library
  CDECODING_PSD,   ///< the merged picture of a Photoshop file
  CDECODING_JXL,   ///< JPEG XL
  CDECODING_JP2,   ///< JPEG 2000
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

/// How the pixels of a raster are packed.
typedef enum cdecoding_packing {
  CDECODING_PLAIN = 0,
  CDECODING_RLE8,      ///< runs of indices of 8 bits, as in BMP
  CDECODING_RLE4,      ///< the same with 4 bits
  CDECODING_TGA_RUNS,  ///< runs of pixels, as in TGA
} cdecoding_packing;

/// How rows of pixels are stored that need no library: BMP, bitmaps in icons, and TGA.
typedef struct cdecoding_raster {
  uint64_t data;       ///< where the first row begins in the file
  uint64_t row_bytes;  ///< the bytes of a row that is not packed, at least as many as its pixels need
  uint32_t bits;       ///< of a pixel: 1, 2, 4, 8, 16, 24 or 32
  cdecoding_packing packing;
  /// The colours of the indices that pixels of up to 8 bits then are: blue, green, red, and a fourth byte if there are 4; in
  /// 2 bytes, 5 bits of each.
  uint64_t palette;
  uint32_t palette_first;  ///< the index of the first colour
  uint32_t palette_count;  ///< 0 if there is no palette, else up to 256
  uint32_t palette_entry;  ///< the bytes of a colour: 2, 3 or 4
  /// The bits of red, green, blue and alpha in a pixel, a little-endian number; all 0 for grey pixels of 8 bits. With a palette,
  /// only that of alpha counts: if it is not 0, the fourth byte of a colour is its alpha.
  uint32_t masks[4];
  /// An icon's mask: where its rows begin, a bit for each pixel, 1 for transparent; 0 if there is none. It counts if no pixel has
  /// alpha.
  uint64_t mask;
  bool is_bottom_up;      ///< the first row in the file is the last one of the picture
  bool is_right_to_left;  ///< the first pixel of each row is the last one
} cdecoding_raster;

/// How the merged picture of a Photoshop file is stored: one channel after the other.
typedef struct cdecoding_psd {
  uint64_t data;       ///< where the first row begins; if rows are packed, the sizes of all rows are there
  uint64_t palette;    ///< 256 reds, greens and blues of the indices that samples then are; 0 if they are none
  uint32_t channels;   ///< of the file: colours, alpha, and others that are not shown
  uint32_t bits;       ///< of a sample: 1, where 1 is black, 8 or 16
  uint32_t size_bytes; ///< the bytes of the size of a packed row: 2 or 4
  bool is_packed;
  bool has_alpha;      ///< the channel after the colours is alpha
  bool is_inverted;    ///< 0 is full, as inks are stored
} cdecoding_psd;

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
  /// TIFF: the offset of the directory of the page to decode. PNG: where the file begins, in an icon.
  uint64_t start;
  /// WebP: the size to which its decoder scales before samples are averaged; the picture's own size if it does not scale,
  /// as for a frame that does not cover the picture. The components of the planes have this size.
  uint32_t scaled_width, scaled_height;
  /// PNG and JPEG XL: the compressed profile is inflated into the memory for planes at this offset, if it has at most so many bytes.
  uint64_t profile_offset, profile_capacity;
  /// HEVC, AV1 and WebP. Tiles with alpha come first, except for overlays. JPEG has no tiles and one extent: the file.
  /// JPEG 2000 has no tiles and four extents: the codestream, and the contents of the boxes pclr, cmap and cdef, of size 0 if there
  /// is none.
  uint32_t tile_count, extent_count;
  /// JPEG: the scale is 1/`denominator`. The columns and rows of its planes are those of their memory, which holds whole MCUs;
  /// nothing is averaged.
  uint32_t denominator;
  /// JPEG 2000: how often the sides are halved, to `scaled_width` and `scaled_height`: the resolution levels that are not decoded.
  uint32_t discarded_levels;
  /// A bit for each cdecoding_warning that ends decoding. JPEG heeds all, TIFF and AV1 that of CDECODING_WARNING_DAMAGED.
  uint32_t fail_mask;
  /// HEVC and AV1: whether the coded components are green, blue and red. The planes are always red, green and blue.
  bool is_gbr;
  /// HEVC and AV1: whether the coded colours are multiplied by their alpha already.
  bool is_premultiplied;
  /// HEVC and AV1: whether tiles lie on each other, earlier ones above, on a canvas that has the background's colour. There are at
  /// most CDECODING_MAX_OVERLAYS, and before each there may be a tile with its alpha, of the same size and at the same place.
  bool is_overlay;
  cdecoding_raster raster;
  cdecoding_psd psd;
} cdecoding_request;

/// How it went.
typedef struct cdecoding_reply {
  cdecoding_status status;
  /// Why there is no picture: one line without the name of the format or the file; empty if there is a picture.
  char message[CDECODING_MESSAGE_SIZE];
  /// What is wrong with the file although there is a picture, for each cdecoding_warning; empty where there is nothing.
  char warnings[CDECODING_MAX_WARNINGS][CDECODING_MESSAGE_SIZE];
  /// PNG and JPEG XL: the size of the profile that was inflated; 0 if there is none, or if it is too large or damaged.
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
