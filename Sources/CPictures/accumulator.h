// Adds up the samples of a picture into the means that the planes show. Rows may come in any order and in pieces, but each
// sample once, or of an overlay with alphas that are together at most 255.

#ifndef ACCUMULATOR_H
#define ACCUMULATOR_H

#include "decoding.h"

#pragma clang assume_nonnull begin

/// The layout of interleaved samples.
typedef enum sample_layout {
  SAMPLES_GREY = 1,
  SAMPLES_GREY_ALPHA = 2,
  SAMPLES_RGB = 3,
  SAMPLES_RGBA = 4,
  SAMPLES_CMYK = 5,
} sample_layout;

typedef struct accumulator {
  const cdecoding_request *request;
  uint8_t *memory;
  /// The sums of each plane, and of alpha at the places of the first plane's samples.
  uint32_t *_Nullable sums[CDECODING_MAX_COMPONENTS];
  uint32_t *_Nullable alpha;
  bool has_alpha;
  /// Whether all planes have the same size and shrink, as interleaved pixels need them.
  bool are_alike;
  /// Whether each sample of the planes is one of the picture, which is added once. There are no sums then: samples are written
  /// at once.
  bool is_direct;
  /// The significant bits of each plane's samples.
  uint8_t bits[CDECODING_MAX_COMPONENTS];
} accumulator;

/// Allocates the sums, all 0. `has_alpha` is whether rows have alpha; the planes must then have the same size.
///
/// Returns CDECODING_BAD_CALL if the request's planes contradict its size, or are outside the memory, or
/// CDECODING_NO_MEMORY. The accumulator must be freed in any case.
cdecoding_status accumulator_init(
    accumulator *sums, const cdecoding_request *request, bool has_alpha, uint8_t *memory, size_t memory_size);

/// The same for a call. Returns false if the call has failed for it.
bool accumulator_prepare(accumulator *sums, decoding *call, bool has_alpha);

/// Adds `count` interleaved pixels of 8 bits from (x, y) on. What is outside the picture is left out. The layout must fit
/// the planes: grey for one, RGB for three, CMYK for four. Grey may also be given to three planes. Pixels that do not fit, or
/// planes that differ in size or shrink, are passed over.
void accumulator_add(
    accumulator *sums, int64_t x, int64_t y, size_t count, const uint8_t *samples, sample_layout layout);

/// Adds interleaved pixels that are 2 to the power of `spacing` pixels apart, 0 to 3: a row of one pass of an interlaced
/// picture. What is between them is left to other calls.
void accumulator_add_spaced(
    accumulator *sums, int64_t x, int64_t y, unsigned spacing, size_t count, const uint8_t *samples, sample_layout layout);

/// Adds `count` samples of one plane's component from (x, y) on, in the component's own grid: of 8 bits if `bits` is 8, else
/// in 16-bit words of `bits` significant bits, 9 to 16.
///
/// - `alpha`: the alpha of each sample, 8 bits; NULL if all are opaque. Then also adds it to the alpha of the plane's sample,
///   for the first plane only.
void accumulator_add_component(
    accumulator *sums, unsigned plane, int64_t x, int64_t y, size_t count, const void *samples, unsigned bits,
    const uint8_t *_Nullable alpha);

/// Divides the sums, mixes in the background, and writes the planes.
void accumulator_finish(accumulator *sums);

void accumulator_free(accumulator *sums);

#pragma clang assume_nonnull end

#endif
