#ifdef THUMBJOB_FORMATS
#include "cshaping.h"

#include <dlfcn.h>
#include <fontconfig/fontconfig.h>
#include <fribidi/fribidi.h>
#include <harfbuzz/hb-ot.h>
#include <harfbuzz/hb-subset.h>
#include <harfbuzz/hb.h>
#include <png.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compact.h"

// MARK: Loading

#define HARFBUZZ(USE) \
  USE(hb_blob_create_from_file_or_fail) USE(hb_blob_destroy) USE(hb_blob_get_data) USE(hb_buffer_add_utf32) \
  USE(hb_buffer_allocation_successful) USE(hb_buffer_create) USE(hb_buffer_destroy) USE(hb_buffer_get_glyph_infos) \
  USE(hb_buffer_get_glyph_positions) USE(hb_buffer_reset) USE(hb_buffer_set_direction) USE(hb_buffer_set_language) \
  USE(hb_buffer_set_script) USE(hb_face_create) USE(hb_face_destroy) USE(hb_face_get_glyph_count) \
  USE(hb_face_reference_blob) USE(hb_face_reference_table) USE(hb_face_get_upem) USE(hb_font_create) \
  USE(hb_font_destroy) USE(hb_font_get_glyph_extents) USE(hb_font_get_glyph_h_advance) USE(hb_font_get_h_extents) \
  USE(hb_font_get_nominal_glyph) USE(hb_font_set_scale) USE(hb_language_from_string) USE(hb_map_get) \
  USE(hb_ot_color_glyph_reference_png) USE(hb_ot_color_has_png) USE(hb_ot_name_get_utf8) USE(hb_set_add) USE(hb_shape) USE(hb_unicode_funcs_get_default) \
  USE(hb_unicode_general_category) USE(hb_unicode_script)

#define SUBSETS(USE) \
  USE(hb_subset_input_create_or_fail) USE(hb_subset_input_destroy) USE(hb_subset_input_glyph_set) \
  USE(hb_subset_input_set) USE(hb_subset_input_set_flags) USE(hb_subset_plan_create_or_fail) \
  USE(hb_subset_plan_destroy) USE(hb_subset_plan_execute_or_fail) USE(hb_subset_plan_old_to_new_glyph_mapping)

#define FONTCONFIG(USE) \
  USE(FcCharSetAddChar) USE(FcCharSetCreate) USE(FcCharSetDestroy) USE(FcConfigSubstitute) USE(FcDefaultSubstitute) \
  USE(FcFontMatch) USE(FcInit) USE(FcPatternAddBool) USE(FcPatternAddCharSet) USE(FcPatternAddString) \
  USE(FcPatternCreate) USE(FcPatternDestroy) USE(FcPatternGetInteger) USE(FcPatternGetString)

#define BIDIRECTIONAL(USE) \
  USE(fribidi_get_bidi_types) USE(fribidi_get_bracket_types) USE(fribidi_get_par_embedding_levels_ex)

#define PNG(USE) USE(png_image_begin_read_from_memory) USE(png_image_finish_read) USE(png_image_free)

static struct {
#define DECLARE(name) __typeof__(name) *name;
  HARFBUZZ(DECLARE) SUBSETS(DECLARE) FONTCONFIG(DECLARE) BIDIRECTIONAL(DECLARE) PNG(DECLARE)
#undef DECLARE
} call;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[256];

static void *open_library(const char *name) {
  void *library = problem[0] == 0 ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL && problem[0] == 0) snprintf(problem, sizeof problem, "%s cannot be loaded", name);
  return library;
}

static void find(void *library, const char *name, void *place) {
  if (library == NULL || problem[0] != 0) return;
  void *symbol = dlsym(library, name);
  if (symbol == NULL) snprintf(problem, sizeof problem, "%s is missing in its library, which is too old", name);
  memcpy(place, &symbol, sizeof symbol);
}

static void load(void) {
  void *library = NULL;
#define FIND(name) find(library, #name, &call.name);
  library = open_library("libharfbuzz.so.0");
  HARFBUZZ(FIND)
  library = open_library("libharfbuzz-subset.so.0");
  SUBSETS(FIND)
  library = open_library("libfontconfig.so.1");
  FONTCONFIG(FIND)
  library = open_library("libfribidi.so.0");
  BIDIRECTIONAL(FIND)
  library = open_library("libpng16.so.16");
  PNG(FIND)
#undef FIND
  if (problem[0] == 0 && !call.FcInit()) snprintf(problem, sizeof problem, "fontconfig cannot be initialised");
}

const char *cshaping_load(void) {
  pthread_once(&once, load);
  return problem[0] == 0 ? NULL : problem;
}

// MARK: Text

bool cshaping_levels(const uint32_t *text, size_t length, int8_t *levels) {
  FriBidiCharType *types = calloc(length + 1, sizeof *types);
  FriBidiBracketType *brackets = calloc(length + 1, sizeof *brackets);
  bool done = false;
  if (types != NULL && brackets != NULL && length < 1 << 20) {
    FriBidiParType direction = FRIBIDI_PAR_ON;
    call.fribidi_get_bidi_types(text, (FriBidiStrIndex)length, types);
    call.fribidi_get_bracket_types(text, (FriBidiStrIndex)length, types, brackets);
    done = call.fribidi_get_par_embedding_levels_ex(
               types, brackets, (FriBidiStrIndex)length, &direction, (FriBidiLevel *)levels) != 0;
  }
  free(types);
  free(brackets);
  return done;
}

uint32_t cshaping_script(uint32_t scalar) {
  hb_script_t script = call.hb_unicode_script(call.hb_unicode_funcs_get_default(), scalar);
  bool is_shared = script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED || script == HB_SCRIPT_UNKNOWN;
  return is_shared ? 0 : (uint32_t)script;
}

// MARK: Fonts

bool cshaping_find(const uint32_t *scalars, size_t count, bool of_pictures, cshaping_place *place) {
  FcPattern *pattern = call.FcPatternCreate(), *match = NULL;
  FcCharSet *set = call.FcCharSetCreate();
  bool found = false;
  if (pattern != NULL && set != NULL) {
    for (size_t index = 0; index < count; index++) call.FcCharSetAddChar(set, scalars[index]);
    call.FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)(of_pictures ? "emoji" : "sans-serif"));
    call.FcPatternAddString(pattern, FC_LANG, (const FcChar8 *)"en");
    call.FcPatternAddCharSet(pattern, FC_CHARSET, set);
    if (!of_pictures) call.FcPatternAddBool(pattern, FC_OUTLINE, FcTrue);
    call.FcPatternAddBool(pattern, FC_COLOR, of_pictures ? FcTrue : FcFalse);
    call.FcConfigSubstitute(NULL, pattern, FcMatchPattern);
    call.FcDefaultSubstitute(pattern);
    FcResult result = FcResultNoMatch;
    match = call.FcFontMatch(NULL, pattern, &result);
    FcChar8 *path = NULL;
    if (match != NULL && call.FcPatternGetString(match, FC_FILE, 0, &path) == FcResultMatch &&
        call.FcPatternGetInteger(match, FC_INDEX, 0, &place->index) == FcResultMatch) {
      int length = snprintf(place->path, sizeof place->path, "%s", (const char *)path);
      found = length > 0 && (size_t)length < sizeof place->path;
    }
  }
  if (match != NULL) call.FcPatternDestroy(match);
  if (set != NULL) call.FcCharSetDestroy(set);
  if (pattern != NULL) call.FcPatternDestroy(pattern);
  return found;
}

struct cshaping_font {
  hb_face_t *face;
  hb_font_t *font;
  hb_buffer_t *buffer;
  bool is_compact, has_pictures;
};

// HarfBuzz rounds to whole numbers, which this makes small enough.
static const double precision = 64;

// A table's bytes from `offset` on; zeros where it ends before.
static void read_table(hb_face_t *face, hb_tag_t tag, size_t offset, uint8_t *bytes, unsigned count) {
  hb_blob_t *blob = call.hb_face_reference_table(face, tag);
  unsigned size = 0;
  const char *data = call.hb_blob_get_data(blob, &size);
  memset(bytes, 0, count);
  if (offset + count <= size) memcpy(bytes, data + offset, count);
  call.hb_blob_destroy(blob);
}

static bool has_table(hb_face_t *face, hb_tag_t tag) {
  hb_blob_t *blob = call.hb_face_reference_table(face, tag);
  unsigned size = 0;
  call.hb_blob_get_data(blob, &size);
  call.hb_blob_destroy(blob);
  return size > 0;
}

// Whether the owner of the font lets it be embedded: fsType of the OS/2 table, bits 1 to 3, 8 and 9.
static bool may_be_embedded(hb_face_t *face) {
  uint8_t type[2];
  read_table(face, HB_TAG('O', 'S', '/', '2'), 8, type, sizeof type);
  return (type[1] & 0x0E) != 0x02 && (type[0] & 0x03) == 0;
}

cshaping_font *cshaping_font_open(const cshaping_place *place) {
  hb_blob_t *blob = call.hb_blob_create_from_file_or_fail(place->path);
  if (blob == NULL) return NULL;
  // The upper bits name an instance of a variable font, of which the default one is used.
  hb_face_t *face = call.hb_face_create(blob, (unsigned)place->index & 0xFFFF);
  call.hb_blob_destroy(blob);
  bool is_compact = has_table(face, HB_TAG('C', 'F', 'F', ' '));
  bool has_outlines = is_compact || has_table(face, HB_TAG('g', 'l', 'y', 'f'));
  bool has_pictures = !has_outlines && call.hb_ot_color_has_png(face);
  cshaping_font *font = calloc(1, sizeof *font);
  if (font == NULL || call.hb_face_get_glyph_count(face) == 0 || !may_be_embedded(face) ||
      !(has_outlines || has_pictures)) {
    free(font);
    call.hb_face_destroy(face);
    return NULL;
  }
  *font = (cshaping_font){
      .face = face, .font = call.hb_font_create(face), .buffer = call.hb_buffer_create(), .is_compact = is_compact,
      .has_pictures = has_pictures};
  call.hb_font_set_scale(font->font, (int)(1000 * precision), (int)(1000 * precision));
  return font;
}

void cshaping_font_close(cshaping_font *font) {
  call.hb_buffer_destroy(font->buffer);
  call.hb_font_destroy(font->font);
  call.hb_face_destroy(font->face);
  free(font);
}

bool cshaping_font_has(const cshaping_font *font, uint32_t scalar) {
  hb_codepoint_t glyph = 0;
  if (!call.hb_font_get_nominal_glyph(font->font, scalar, &glyph) || glyph == 0) return false;
  // A part of a sequence need not have a picture of its own.
  if (font->has_pictures) return true;
  switch (call.hb_unicode_general_category(call.hb_unicode_funcs_get_default(), scalar)) {
    case HB_UNICODE_GENERAL_CATEGORY_SPACE_SEPARATOR:
    case HB_UNICODE_GENERAL_CATEGORY_FORMAT: return true;
    default: break;
  }
  // A colour font may have an empty outline.
  hb_glyph_extents_t extents = {0};
  return call.hb_font_get_glyph_extents(font->font, glyph, &extents) && extents.width != 0 && extents.height != 0;
}

size_t cshaping_shape(
    cshaping_font *font, const uint32_t *text, size_t length, size_t start, size_t count, uint32_t script,
    bool right_to_left, cshaping_glyph *glyphs, size_t capacity) {
  if (length > 1 << 20 || start > length || count > length - start) return SIZE_MAX;
  hb_buffer_t *buffer = font->buffer;
  call.hb_buffer_reset(buffer);
  call.hb_buffer_add_utf32(buffer, text, (int)length, (unsigned)start, (int)count);
  call.hb_buffer_set_direction(buffer, right_to_left ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
  call.hb_buffer_set_script(buffer, script == 0 ? HB_SCRIPT_COMMON : (hb_script_t)script);
  call.hb_buffer_set_language(buffer, call.hb_language_from_string("und", -1));
  call.hb_shape(font->font, buffer, NULL, 0);
  unsigned made = 0;
  const hb_glyph_info_t *infos = call.hb_buffer_get_glyph_infos(buffer, &made);
  const hb_glyph_position_t *positions = call.hb_buffer_get_glyph_positions(buffer, &made);
  if (!call.hb_buffer_allocation_successful(buffer) || made > capacity) return SIZE_MAX;
  for (unsigned index = 0; index < made; index++) {
    glyphs[index] = (cshaping_glyph){
        .glyph = infos[index].codepoint, .cluster = infos[index].cluster,
        .advance = positions[index].x_advance / precision, .x = positions[index].x_offset / precision,
        .y = positions[index].y_offset / precision};
  }
  return made;
}

double cshaping_advance(const cshaping_font *font, uint32_t glyph) {
  return call.hb_font_get_glyph_h_advance(font->font, glyph) / precision;
}

static double signed_number(const uint8_t *bytes) { return (int16_t)(uint16_t)(bytes[0] << 8 | bytes[1]); }

void cshaping_measure(const cshaping_font *font, cshaping_metrics *metrics) {
  *metrics = (cshaping_metrics){.is_compact = font->is_compact, .has_pictures = font->has_pictures};
  hb_font_extents_t extents = {0};
  call.hb_font_get_h_extents(font->font, &extents);
  metrics->ascent = extents.ascender / precision;
  metrics->descent = extents.descender / precision;
  uint8_t box[8];
  read_table(font->face, HB_TAG('h', 'e', 'a', 'd'), 36, box, sizeof box);
  double scale = 1000.0 / call.hb_face_get_upem(font->face);
  metrics->left = signed_number(box) * scale;
  metrics->bottom = signed_number(box + 2) * scale;
  metrics->right = signed_number(box + 4) * scale;
  metrics->top = signed_number(box + 6) * scale;
  char name[sizeof metrics->name] = "";
  unsigned size = sizeof name;
  call.hb_ot_name_get_utf8(
      font->face, HB_OT_NAME_ID_POSTSCRIPT_NAME, call.hb_language_from_string("en", -1), &size, name);
  size_t length = 0;
  for (const char *next = name; *next != 0; next++) {
    bool is_plain = (*next >= '0' && *next <= '9') || (*next >= 'A' && *next <= 'Z') || (*next >= 'a' && *next <= 'z');
    if (is_plain || *next == '-') metrics->name[length++] = *next;
  }
  if (length == 0) memcpy(metrics->name, "Font", sizeof "Font");
}

// MARK: Pictures

// The largest side of a picture in a font, in pixels. Those of fonts for phones have 136, others up to 256.
static const unsigned largest_side = 1024;

// Replaces each square of pixels by its mean, where a picture has more than enough.
static void halve(cshaping_picture *picture) {
  size_t width = picture->width / 2, height = picture->height / 2, row = picture->width * 3;
  for (size_t y = 0; y < height; y++) {
    for (size_t sample = 0; sample < width * 3; sample++) {
      const uint8_t *upper = picture->samples + 2 * y * row + sample / 3 * 6 + sample % 3;
      unsigned sum = (unsigned)upper[0] + upper[3] + upper[row] + upper[row + 3];
      picture->samples[y * width * 3 + sample] = (uint8_t)((sum + 2) / 4);
    }
  }
  picture->width = width;
  picture->height = height;
}

static bool decode(const char *bytes, unsigned size, cshaping_picture *picture) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!call.png_image_begin_read_from_memory(&image, bytes, size)) return false;
  image.format = PNG_FORMAT_RGB;
  if (image.width > 0 && image.height > 0 && image.width <= largest_side && image.height <= largest_side) {
    picture->samples = malloc(PNG_IMAGE_SIZE(image));
  }
  const png_color white = {255, 255, 255};
  if (picture->samples == NULL || !call.png_image_finish_read(&image, &white, picture->samples, 0, NULL)) {
    call.png_image_free(&image);
    return false;
  }
  picture->width = image.width;
  picture->height = image.height;
  while (picture->width > 128 || picture->height > 128) halve(picture);
  return true;
}

bool cshaping_draw(const cshaping_font *font, uint32_t glyph, cshaping_picture *picture) {
  *picture = (cshaping_picture){0};
  hb_glyph_extents_t extents = {0};
  hb_blob_t *blob = call.hb_ot_color_glyph_reference_png(font->font, glyph);
  unsigned size = 0;
  const char *bytes = call.hb_blob_get_data(blob, &size);
  bool is_drawn = size > 0 && call.hb_font_get_glyph_extents(font->font, glyph, &extents) && decode(bytes, size, picture);
  call.hb_blob_destroy(blob);
  if (!is_drawn) {
    cshaping_picture_free(picture);
    return false;
  }
  picture->x = extents.x_bearing / precision;
  picture->y = (extents.y_bearing + extents.height) / precision;
  picture->shown_width = extents.width / precision;
  picture->shown_height = -extents.height / precision;
  return true;
}

void cshaping_picture_free(cshaping_picture *picture) {
  free(picture->samples);
  picture->samples = NULL;
}

// MARK: Subsets

struct cshaping_program {
  hb_blob_t *blob;
};

// Tables that a PDF file does not need. With those of layout, more glyphs would be taken: all that might replace these.
static const hb_tag_t needless[] = {
    HB_TAG('G', 'S', 'U', 'B'), HB_TAG('G', 'P', 'O', 'S'), HB_TAG('G', 'D', 'E', 'F'), HB_TAG('k', 'e', 'r', 'n'),
    HB_TAG('c', 'm', 'a', 'p'), HB_TAG('n', 'a', 'm', 'e'), HB_TAG('O', 'S', '/', '2'), HB_TAG('v', 'm', 't', 'x'),
    HB_TAG('v', 'h', 'e', 'a'), HB_TAG('V', 'O', 'R', 'G'), HB_TAG('M', 'A', 'T', 'H'), HB_TAG('B', 'A', 'S', 'E'),
    HB_TAG('J', 'S', 'T', 'F'), HB_TAG('f', 'v', 'a', 'r'), HB_TAG('g', 'v', 'a', 'r'), HB_TAG('a', 'v', 'a', 'r'),
    HB_TAG('H', 'V', 'A', 'R'), HB_TAG('M', 'V', 'A', 'R'), HB_TAG('S', 'T', 'A', 'T'), HB_TAG('C', 'O', 'L', 'R'),
    HB_TAG('C', 'P', 'A', 'L'), HB_TAG('S', 'V', 'G', ' '), HB_TAG('D', 'S', 'I', 'G')};

// The subset's face, and the number of each glyph in it. NULL if that fails.
static hb_face_t *make_subset(hb_face_t *face, const uint32_t *glyphs, size_t count, uint32_t *numbers) {
  hb_subset_input_t *input = call.hb_subset_input_create_or_fail();
  if (input == NULL) return NULL;
  for (size_t index = 0; index < count; index++) call.hb_set_add(call.hb_subset_input_glyph_set(input), glyphs[index]);
  hb_set_t *dropped = call.hb_subset_input_set(input, HB_SUBSET_SETS_DROP_TABLE_TAG);
  for (size_t index = 0; index < sizeof needless / sizeof *needless; index++) call.hb_set_add(dropped, needless[index]);
  call.hb_subset_input_set_flags(input, HB_SUBSET_FLAGS_NO_HINTING | HB_SUBSET_FLAGS_DESUBROUTINIZE);
  hb_subset_plan_t *plan = call.hb_subset_plan_create_or_fail(face, input);
  call.hb_subset_input_destroy(input);
  if (plan == NULL) return NULL;
  const hb_map_t *map = call.hb_subset_plan_old_to_new_glyph_mapping(plan);
  for (size_t index = 0; index < count; index++) numbers[index] = call.hb_map_get(map, glyphs[index]);
  hb_face_t *subset = call.hb_subset_plan_execute_or_fail(plan);
  call.hb_subset_plan_destroy(plan);
  return subset;
}

cshaping_program *cshaping_subset(
    const cshaping_font *font, const uint32_t *glyphs, size_t count, uint32_t *identifiers) {
  hb_face_t *subset = make_subset(font->face, glyphs, count, identifiers);
  if (subset == NULL) return NULL;
  hb_blob_t *blob = font->is_compact ? call.hb_face_reference_table(subset, HB_TAG('C', 'F', 'F', ' '))
                                     : call.hb_face_reference_blob(subset);
  call.hb_face_destroy(subset);
  cshaping_program *program = calloc(1, sizeof *program);
  unsigned size = 0;
  const char *data = call.hb_blob_get_data(blob, &size);
  bool is_right = program != NULL && size > 0;
  for (size_t index = 0; is_right && index < count; index++) is_right = identifiers[index] <= 0xFFFF;
  if (is_right && font->is_compact) {
    is_right = ccompact_identifiers((const uint8_t *)data, size, identifiers, count);
  }
  if (!is_right) {
    free(program);
    call.hb_blob_destroy(blob);
    return NULL;
  }
  program->blob = blob;
  return program;
}

const uint8_t *cshaping_program_bytes(const cshaping_program *program, size_t *size) {
  unsigned length = 0;
  const char *data = call.hb_blob_get_data(program->blob, &length);
  *size = length;
  return (const uint8_t *)data;
}

void cshaping_program_destroy(cshaping_program *program) {
  call.hb_blob_destroy(program->blob);
  free(program);
}
#endif
