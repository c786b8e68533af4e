#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/// Reads a whole JPEG file with libjpeg and gives the lowest coefficients of one component's blocks, as they are in the
/// file: quantized.
///
/// - parameter columns, rows: the blocks that contain samples of the picture.
/// - parameter coefficients: room for four coefficients of each block, those with the zigzag indices 0, 1, 2 and 4.
/// - returns: 0, or -1 if libjpeg reports an error or a warning, or the component has other blocks.
int reference_coefficients(const uint8_t *_Nonnull bytes, size_t size, int component, int columns, int rows,
                           int16_t *_Nonnull coefficients);

#endif
