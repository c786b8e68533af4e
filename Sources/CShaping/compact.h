// The Compact Font Format, as far as a PDF file needs to know it.
#ifndef COMPACT_H
#define COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Replaces the indices of glyphs by their CIDs, if the font has CIDs; otherwise an index is the CID. Returns false if the
/// program is damaged.
///
/// Source: Adobe Technical Note #5176 (CFF), 4, 5, 9 and 13; ISO 32000-1, 9.7.4.2.
bool ccompact_identifiers(const uint8_t *program, size_t size, uint32_t *identifiers, size_t count);

#endif
