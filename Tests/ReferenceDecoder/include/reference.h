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

/// A scan of a progressive file, as ITU-T T.81 describes it: the indices of its components, the band of coefficients
/// (Ss, Se), and the bits (Ah, Al).
typedef struct reference_scan {
  int components[4];
  int count;
  int start, end;
  int high, low;
} reference_scan;

/// Writes a JPEG file again with libjpeg, with the same coefficients, as a progressive file with these scans.
///
/// - parameter restart_interval: the MCUs between two restart markers, or 0 for none.
/// - returns: the file, which the caller frees, or NULL if libjpeg reports an error.
uint8_t *_Nullable reference_progressive(const uint8_t *_Nonnull bytes, size_t size,
                                         const reference_scan *_Nonnull scans, int count, unsigned restart_interval,
                                         size_t *_Nonnull made_size);

#endif
