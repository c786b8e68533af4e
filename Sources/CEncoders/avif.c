#ifdef THUMBJOB_FORMATS
#include "encoding.h"

#include <avif/avif.h>
#include <stdio.h>

/// Lends the planes to libavif, so that it does not copy them.
static void set_planes(avifImage *image, const encoding *call) {
  const cencoding_request *request = call->request;
  for (unsigned index = 0; index < encoding_colors(call); index++) {
    image->yuvPlanes[index] = encoding_plane(call, index);
    image->yuvRowBytes[index] = request->planes[index].columns;
  }
  image->imageOwnsYUVPlanes = AVIF_FALSE;
  image->yuvRange = AVIF_RANGE_FULL;
  if (request->has_alpha) {
    image->alphaPlane = encoding_alpha(call);
    image->alphaRowBytes = request->width;
    image->imageOwnsAlphaPlane = AVIF_FALSE;
  }
}

/// sRGB, unless a profile says otherwise, with the matrix of JPEG (ITU-T H.273).
static void set_colors(avifImage *image, const encoding *call) {
  const cencoding_request *request = call->request;
  bool has_profile = request->profile.size > 0;
  image->colorPrimaries = has_profile ? AVIF_COLOR_PRIMARIES_UNSPECIFIED : AVIF_COLOR_PRIMARIES_BT709;
  image->transferCharacteristics = has_profile ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
  image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
  if (has_profile) avifImageSetProfileICC(image, call->memory + request->profile.offset, request->profile.size);
  if (request->exif.size > 0) {
    avifImageSetMetadataExif(image, call->memory + request->exif.offset, request->exif.size);
  }
}

static avifPixelFormat pixel_format(const encoding *call) {
  if (call->request->samples == CENCODING_GREY) return AVIF_PIXEL_FORMAT_YUV400;
  return encoding_halves_chroma(call) ? AVIF_PIXEL_FORMAT_YUV420 : AVIF_PIXEL_FORMAT_YUV444;
}

static avifEncoder *_Nullable new_encoder(const encoding *call) {
  avifEncoder *encoder = avifEncoderCreate();
  if (!encoder) return NULL;
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->maxThreads = 1;
  encoder->speed = AVIF_SPEED_FASTEST - call->request->effort;
  char level[8];
  snprintf(level, sizeof level, "%d", call->request->quality);
  avifEncoderSetCodecSpecificOption(encoder, "end-usage", "q");
  avifEncoderSetCodecSpecificOption(encoder, "cq-level", level);
  avifEncoderSetCodecSpecificOption(encoder, "color:tune", "ssim");
  // For pictures of screens libaom would look for equal blocks, with tables of a hundred bytes for each pixel.
  avifEncoderSetCodecSpecificOption(encoder, "enable-intrabc", "0");
  encoder->minQuantizer = encoder->minQuantizerAlpha = AVIF_QUANTIZER_BEST_QUALITY;
  encoder->maxQuantizer = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_WORST_QUALITY;
  return encoder;
}

static void write_picture(encoding *call, avifImage *image, avifEncoder *encoder) {
  set_planes(image, call);
  set_colors(image, call);
  avifRWData file = AVIF_DATA_EMPTY;
  avifResult result = avifEncoderWrite(encoder, image, &file);
  if (result == AVIF_RESULT_OK) {
    encoding_write(call, file.data, file.size);
  } else {
    // libaom says of a lack of memory only that encoding has failed. It is the only cause known to us.
    bool lacks_memory = result == AVIF_RESULT_OUT_OF_MEMORY || result == AVIF_RESULT_ENCODE_COLOR_FAILED ||
                        result == AVIF_RESULT_ENCODE_ALPHA_FAILED;
    encoding_fail(
        call, lacks_memory ? CDECODING_NO_MEMORY : CDECODING_UNSUPPORTED, "%s (%s)", avifResultToString(result),
        encoder->diag.error);
  }
  avifRWDataFree(&file);
}

void encode_avif(encoding *call) {
  const cencoding_request *request = call->request;
  if (request->samples == CENCODING_RGB || request->quality > AVIF_QUANTIZER_WORST_QUALITY) {
    encoding_fail(call, CDECODING_BAD_CALL, "no such AVIF file is written");
    return;
  }
  avifImage *image = avifImageCreate(request->width, request->height, 8, pixel_format(call));
  avifEncoder *encoder = new_encoder(call);
  if (image && encoder) {
    write_picture(call, image, encoder);
  } else {
    encoding_fail(call, CDECODING_NO_MEMORY, "there is no memory for libavif");
  }
  if (encoder) avifEncoderDestroy(encoder);
  if (image) avifImageDestroy(image);
}

#endif
