// Shaping of text in any script with the fonts of the system, and subsets of these fonts for PDF files: by HarfBuzz, fontconfig,
// FriBidi and libpng, which are loaded when a text first needs them. Linked to the program, they would make the start of every
// run load eight libraries.
//
// Texts are arrays of Unicode scalars. Lengths are in thousandths of the size of the text. All functions must be called on one
// thread at a time.
#ifndef CSHAPING_H
#define CSHAPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads the libraries. Returns why they cannot be used, as a text that stays valid, or NULL.
const char *_Nullable cshaping_load(void);

/// The embedding levels of a text without line ends, by the Unicode Bidirectional Algorithm: odd ones run from right to left.
/// Returns false if there is no memory.
///
/// Source: Unicode Standard Annex #9.
bool cshaping_levels(const uint32_t *_Nonnull text, size_t length, int8_t *_Nonnull levels);

/// The script of a scalar, as its ISO 15924 tag in four bytes; 0 if it belongs to several or to none.
uint32_t cshaping_script(uint32_t scalar);

/// Where a font is.
typedef struct {
  char path[4096];
  int index;
} cshaping_place;

/// Finds the font that has the most of these scalars, and among equals the one that the system prefers: a font with outlines, or
/// one of coloured pictures. The user's language does not matter. Returns false if there is none.
bool cshaping_find(const uint32_t *_Nonnull scalars, size_t count, bool of_pictures, cshaping_place *_Nonnull place);

typedef struct cshaping_font cshaping_font;

/// Opens a font. NULL if it cannot be read, has neither outlines nor pictures, or may not be embedded.
cshaping_font *_Nullable cshaping_font_open(const cshaping_place *_Nonnull place);

void cshaping_font_close(cshaping_font *_Nonnull font);

/// Whether the font shows a scalar.
bool cshaping_font_has(const cshaping_font *_Nonnull font, uint32_t scalar);

typedef struct {
  uint32_t glyph;
  /// The index of the first scalar that it stands for. Several glyphs may have the same.
  uint32_t cluster;
  /// How far the next glyph is, and how this one is moved.
  double advance, x, y;
} cshaping_glyph;

/// Shapes a part of a text in one font, script and direction: `count` scalars from `start` on. The glyphs are in the order from
/// left to right. Returns how many there are, or SIZE_MAX if these are more than `capacity` or there is no memory.
size_t cshaping_shape(
    cshaping_font *_Nonnull font, const uint32_t *_Nonnull text, size_t length, size_t start, size_t count, uint32_t script,
    bool right_to_left, cshaping_glyph *_Nonnull glyphs, size_t capacity);

/// The width of a glyph without shaping.
double cshaping_advance(const cshaping_font *_Nonnull font, uint32_t glyph);

typedef struct {
  /// The name of the font, of letters, digits and "-".
  char name[64];
  double ascent, descent, left, bottom, right, top;
  /// Whether the outlines are of the Compact Font Format, and otherwise of TrueType.
  bool is_compact;
  /// Whether the glyphs are pictures, and no outlines.
  bool has_pictures;
} cshaping_metrics;

void cshaping_measure(const cshaping_font *_Nonnull font, cshaping_metrics *_Nonnull metrics);

/// A glyph as a picture on white: rows from top to bottom, of red, green and blue of each pixel.
typedef struct {
  size_t width, height;
  uint8_t *_Nullable samples;
  /// Where its lower left corner is, and its size, in thousandths of the size of the text.
  double x, y, shown_width, shown_height;
} cshaping_picture;

/// The picture of a glyph, of at most 128 × 128 pixels. False if it has none, which is no error: a space has none. The caller
/// passes it to cshaping_picture_free.
bool cshaping_draw(const cshaping_font *_Nonnull font, uint32_t glyph, cshaping_picture *_Nonnull picture);

void cshaping_picture_free(cshaping_picture *_Nonnull picture);

typedef struct cshaping_program cshaping_program;

/// Makes a font with some of the glyphs only: a TrueType file, or a CFF program. `identifiers` receives the number of each glyph
/// in it: the index of a TrueType glyph, or what PDF calls the CID of a CFF glyph. NULL if that fails.
cshaping_program *_Nullable cshaping_subset(
    const cshaping_font *_Nonnull font, const uint32_t *_Nonnull glyphs, size_t count, uint32_t *_Nonnull identifiers);

const uint8_t *_Nonnull cshaping_program_bytes(const cshaping_program *_Nonnull program, size_t *_Nonnull size);

void cshaping_program_destroy(cshaping_program *_Nonnull program);

#endif
