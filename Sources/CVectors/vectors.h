// Vector operations in C. For these, Swift's standard library has no function that compiles to one instruction. Clang
// compiles C's vector extensions for every processor, and most of these functions to one instruction of x86-64. Swift
// imports the types as SIMD8<Int16> and so on, and its optimiser inlines the functions.

#ifndef CVECTORS_H
#define CVECTORS_H

#include <stdint.h>

typedef uint8_t cvectors_16u8 __attribute__((ext_vector_type(16)));
typedef int16_t cvectors_8i16 __attribute__((ext_vector_type(8)));
typedef int32_t cvectors_4i32 __attribute__((ext_vector_type(4)));
typedef int32_t cvectors_8i32 __attribute__((ext_vector_type(8)));

#define CVECTORS(name) static inline __attribute__((always_inline, swift_name(name)))

/// The sums of each two neighbouring products. No sum may leave 32 bits (pmaddwd).
CVECTORS("sumsOfPairs(_:_:)") cvectors_4i32 cvectors_sums_of_products(cvectors_8i16 a, cvectors_8i16 b) {
  cvectors_8i32 products = __builtin_convertvector(a, cvectors_8i32) * __builtin_convertvector(b, cvectors_8i32);
  return __builtin_shufflevector(products, products, 0, 2, 4, 6) + __builtin_shufflevector(products, products, 1, 3, 5, 7);
}

/// Both vectors, limited to 16 bits (packssdw).
CVECTORS("narrowed(_:_:)") cvectors_8i16 cvectors_narrowed(cvectors_4i32 low, cvectors_4i32 high) {
  cvectors_8i32 both = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  both = __builtin_elementwise_max(both, (cvectors_8i32)(INT16_MIN));
  both = __builtin_elementwise_min(both, (cvectors_8i32)(INT16_MAX));
  return __builtin_convertvector(both, cvectors_8i16);
}

/// Both vectors, limited to 0...255 (packuswb).
CVECTORS("bytes(_:_:)") cvectors_16u8 cvectors_bytes(cvectors_8i16 low, cvectors_8i16 high) {
  typedef int16_t both_type __attribute__((ext_vector_type(16)));
  both_type both = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  both = __builtin_elementwise_max(both, (both_type)(0));
  both = __builtin_elementwise_min(both, (both_type)(UINT8_MAX));
  return __builtin_convertvector(both, cvectors_16u8);
}

/// The first eight bytes.
CVECTORS("wideLow(_:)") cvectors_8i16 cvectors_wide_low(cvectors_16u8 bytes) {
  return __builtin_convertvector(__builtin_shufflevector(bytes, bytes, 0, 1, 2, 3, 4, 5, 6, 7), cvectors_8i16);
}

/// The last eight bytes.
CVECTORS("wideHigh(_:)") cvectors_8i16 cvectors_wide_high(cvectors_16u8 bytes) {
  return __builtin_convertvector(__builtin_shufflevector(bytes, bytes, 8, 9, 10, 11, 12, 13, 14, 15), cvectors_8i16);
}

/// Interleaves the elements of the first halves of both vectors.
CVECTORS("turnsLow(_:_:)") cvectors_16u8 cvectors_turns_low_u8(cvectors_16u8 a, cvectors_16u8 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

/// Interleaves the elements of the second halves of both vectors.
CVECTORS("turnsHigh(_:_:)") cvectors_16u8 cvectors_turns_high_u8(cvectors_16u8 a, cvectors_16u8 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/// Interleaves the elements of the first halves of both vectors.
CVECTORS("turnsLow(_:_:)") cvectors_8i16 cvectors_turns_low_i16(cvectors_8i16 a, cvectors_8i16 b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

/// Interleaves the elements of the second halves of both vectors.
CVECTORS("turnsHigh(_:_:)") cvectors_8i16 cvectors_turns_high_i16(cvectors_8i16 a, cvectors_8i16 b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// Interleaves pairs of elements of the first halves: the first two of `a`, the first two of `b`, and so on.
CVECTORS("pairsLow(_:_:)") cvectors_8i16 cvectors_pairs_low(cvectors_8i16 a, cvectors_8i16 b) {
  return __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
}

/// Interleaves pairs of elements of the second halves.
CVECTORS("pairsHigh(_:_:)") cvectors_8i16 cvectors_pairs_high(cvectors_8i16 a, cvectors_8i16 b) {
  return __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
}

/// Sums of neighbours: two of `a`, then two of `b`.
CVECTORS("neighbours(_:_:)") cvectors_4i32 cvectors_neighbours(cvectors_4i32 a, cvectors_4i32 b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}

#endif
