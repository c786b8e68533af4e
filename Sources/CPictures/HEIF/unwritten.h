// Finds samples that no decoder has written.
//
// Some libraries give a picture although data of it are missing, and say nothing. The samples are then what the memory had
// before. cpictures_fill() fills memory with a pattern before a library gets it, and here the pattern is found.

#ifndef UNWRITTEN_H
#define UNWRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Whether a row of samples has 8 bytes of the pattern, one after the other, at the place where memory was filled. It finds
/// each piece of 11 bytes or more that is unwritten.
///
/// A picture has these 8 bytes by chance once in 2^64 places.
bool has_unwritten(const uint8_t *row, size_t size);

#pragma clang assume_nonnull end

#endif
