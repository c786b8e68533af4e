// This file is for a build without the trait Formats. Once cshaping_load has returned its reason, no other function is called.
#ifndef THUMBJOB_FORMATS
#include "cshaping.h"

#include <stdlib.h>

const char *cshaping_load(void) { return "this thumbjob is built without fonts"; }

bool cshaping_levels(const uint32_t *text, size_t length, int8_t *levels) { return false; }

uint32_t cshaping_script(uint32_t scalar) { return 0; }

bool cshaping_find(const uint32_t *scalars, size_t count, bool of_pictures, cshaping_place *place) { return false; }

cshaping_font *cshaping_font_open(const cshaping_place *place) { return NULL; }

void cshaping_font_close(cshaping_font *font) { abort(); }

bool cshaping_font_has(const cshaping_font *font, uint32_t scalar) { return false; }

size_t cshaping_shape(
    cshaping_font *font, const uint32_t *text, size_t length, size_t start, size_t count, uint32_t script, bool right_to_left,
    cshaping_glyph *glyphs, size_t capacity) {
  return SIZE_MAX;
}

double cshaping_advance(const cshaping_font *font, uint32_t glyph) { return 0; }

void cshaping_measure(const cshaping_font *font, cshaping_metrics *metrics) { abort(); }

bool cshaping_draw(const cshaping_font *font, uint32_t glyph, cshaping_picture *picture) { return false; }

void cshaping_picture_free(cshaping_picture *picture) {}

cshaping_program *cshaping_subset(
    const cshaping_font *font, const uint32_t *glyphs, size_t count, uint32_t *identifiers) {
  return NULL;
}

const uint8_t *cshaping_program_bytes(const cshaping_program *program, size_t *size) { abort(); }

void cshaping_program_destroy(cshaping_program *program) { abort(); }
#endif
