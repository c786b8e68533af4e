// Huffman codes made from a sample of a picture, so that they suit the whole picture.

#ifndef CLIBJPEG_WIDE_CODES_H
#define CLIBJPEG_WIDE_CODES_H

#include <stdio.h>

#include <jpeglib.h>

/// Adds the symbols that are missing from the sample to each Huffman table of a compressor.
void clibjpeg_widen_codes(struct jpeg_compress_struct *jpeg);

#endif
