// The strips or tiles of a TIFF page.

#ifndef TIFF_PIECES_H
#define TIFF_PIECES_H

#include "tiff_page.h"

#pragma clang assume_nonnull begin

/// Asks codecs for the samples that are simplest to use. To be called for each reader.
void tiff_pieces_choose_samples(TIFF *tiff, const page *from);

/// Reads all strips or tiles. If that fails, so has the call.
void tiff_pieces_read(page *from);

#pragma clang assume_nonnull end

#endif
