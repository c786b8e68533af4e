#ifdef THUMBJOB_FORMATS
#include "encoding.h"

#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

/// The bytes of a chunk's header, and of the contents of VP8X.
#define CHUNK_HEAD 8u
#define VP8X_SIZE 10u

/// Flags of VP8X.
#define HAS_PROFILE 0x20u
#define HAS_ALPHA 0x10u
#define HAS_EXIF 0x08u

/// The steps of libwebp's effort (`method`), 0 to 6.
static const int methods[10] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6};

static void put_number(uint8_t *into, uint32_t value, unsigned bytes) {
  for (unsigned index = 0; index < bytes; index++) into[index] = (uint8_t)(value >> 8 * index);
}

static uint32_t number(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void write_chunk(encoding *call, const char *name, const uint8_t *contents, size_t size) {
  uint8_t head[CHUNK_HEAD];
  memcpy(head, name, 4);
  put_number(head + 4, (uint32_t)size, 4);
  encoding_write(call, head, sizeof head);
  encoding_write(call, contents, size);
  if (size % 2 == 1) encoding_write(call, "", 1);
}

/// Writes all that comes before the picture: RIFF, VP8X and ICCP.
static void write_head(encoding *call) {
  const cencoding_request *request = call->request;
  encoding_write(call, "RIFF\0\0\0\0WEBP", 12);
  uint8_t features[VP8X_SIZE] = {0};
  features[0] = (uint8_t)((request->profile.size > 0 ? HAS_PROFILE : 0) | (request->has_alpha ? HAS_ALPHA : 0) |
                          (request->exif.size > 0 ? HAS_EXIF : 0));
  put_number(features + 4, request->width - 1, 3);
  put_number(features + 7, request->height - 1, 3);
  write_chunk(call, "VP8X", features, sizeof features);
  if (request->profile.size > 0) {
    write_chunk(call, "ICCP", call->memory + request->profile.offset, (size_t)request->profile.size);
  }
}

/// Writes all that comes after the picture, and the size of the file.
static void write_tail(encoding *call) {
  const cencoding_request *request = call->request;
  if (request->exif.size > 0) {
    write_chunk(call, "EXIF", call->memory + request->exif.offset, (size_t)request->exif.size);
  }
  if (!encoding_has_failed(call)) put_number(call->memory + request->file.offset + 4, (uint32_t)call->size - 8, 4);
}

/// Takes away the head that libwebp has written before its chunks: of RIFF, and perhaps VP8X.
static void remove_head(encoding *call, size_t start) {
  uint8_t *file = call->memory + call->request->file.offset;
  size_t head = 12;
  if (call->size - start >= head + CHUNK_HEAD && memcmp(file + start + head, "VP8X", 4) == 0) {
    head += CHUNK_HEAD + number(file + start + head + 4);
  }
  if (call->size - start < head) {
    encoding_fail(call, CDECODING_UNSUPPORTED, "libwebp has written no picture");
    return;
  }
  memmove(file + start, file + start + head, call->size - start - head);
  call->size -= head;
}

static int write_bytes(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
  return encoding_write(picture->custom_ptr, bytes, count);
}

static int report(int percent, const WebPPicture *picture) {
  encoding *call = picture->user_data;
  call->progress->advance(call->progress->context, percent / 100.0);
  return 1;
}

/// Turns samples of full range into the range of VP8: 16 to 235 for luma, 16 to 240 for chroma.
static void limit_range(uint8_t *samples, size_t count, int range) {
  uint8_t values[256];
  for (int value = 0; value < 256; value++) {
    // Luma begins at 16; chroma has its middle at 128.
    int scaled = range == 219 ? 16 * 255 + value * 219 : 128 * 255 + (value - 128) * 224;
    values[value] = (uint8_t)((scaled * 2 + 255) / 510);
  }
  for (size_t place = 0; place < count; place++) samples[place] = values[samples[place]];
}

/// Lends the planes to libwebp, so that it does not copy them. Returns the chroma of a grey picture, which the caller frees.
static uint8_t *_Nullable set_planes(encoding *call, WebPPicture *picture) {
  const cencoding_request *request = call->request;
  size_t pixels = (size_t)request->width * request->height;
  int columns = (int)(request->width + 1) / 2;
  size_t chroma = (size_t)columns * ((request->height + 1) / 2);
  uint8_t *grey = NULL;
  picture->y = encoding_plane(call, 0);
  limit_range(picture->y, pixels, 219);
  if (request->samples == CENCODING_GREY) {
    grey = malloc(chroma);
    if (!grey) {
      encoding_fail(call, CDECODING_NO_MEMORY, "there is no memory for chroma");
      return NULL;
    }
    memset(grey, 128, chroma);
    picture->u = picture->v = grey;
  } else {
    picture->u = encoding_plane(call, 1);
    picture->v = encoding_plane(call, 2);
    limit_range(picture->u, chroma, 224);
    limit_range(picture->v, chroma, 224);
  }
  picture->a = encoding_alpha(call);
  picture->y_stride = picture->a_stride = (int)request->width;
  picture->uv_stride = columns;
  picture->colorspace = request->has_alpha ? WEBP_YUV420A : WEBP_YUV420;
  return grey;
}

/// The pixels for lossless files. The caller frees them.
static uint32_t *_Nullable set_pixels(encoding *call, WebPPicture *picture) {
  const cencoding_request *request = call->request;
  size_t count = (size_t)request->width * request->height;
  uint32_t *pixels = malloc(count * sizeof *pixels);
  if (!pixels) {
    encoding_fail(call, CDECODING_NO_MEMORY, "there is no memory for pixels");
    return NULL;
  }
  bool is_grey = request->samples == CENCODING_GREY;
  const uint8_t *red = encoding_plane(call, 0);
  const uint8_t *green = is_grey ? red : encoding_plane(call, 1), *blue = is_grey ? red : encoding_plane(call, 2);
  const uint8_t *alpha = encoding_alpha(call);
  for (size_t place = 0; place < count; place++) {
    pixels[place] = (uint32_t)(alpha ? alpha[place] : 255) << 24 | (uint32_t)red[place] << 16 |
                    (uint32_t)green[place] << 8 | blue[place];
  }
  picture->use_argb = 1;
  picture->argb = pixels;
  picture->argb_stride = (int)request->width;
  return pixels;
}

static bool configure(const cencoding_request *request, WebPConfig *config) {
  if (!WebPConfigInit(config)) return false;
  if (request->is_lossless) return WebPConfigLosslessPreset(config, request->effort);
  config->quality = request->quality;
  config->method = methods[request->effort];
  return true;
}

void encode_webp(encoding *call) {
  const cencoding_request *request = call->request;
  bool fits = request->is_lossless ? request->samples != CENCODING_YCC
                                   : request->samples == CENCODING_GREY ||
                                         (request->samples == CENCODING_YCC &&
                                          (encoding_halves_chroma(call) || (request->width == 1 && request->height == 1)));
  WebPConfig config;
  WebPPicture picture;
  if (!fits || request->width > WEBP_MAX_DIMENSION || request->height > WEBP_MAX_DIMENSION || !configure(request, &config) ||
      !WebPPictureInit(&picture)) {
    encoding_fail(call, CDECODING_BAD_CALL, "no such WebP file is written");
    return;
  }
  picture.width = (int)request->width;
  picture.height = (int)request->height;
  picture.writer = write_bytes;
  picture.custom_ptr = picture.user_data = call;
  picture.progress_hook = report;
  void *own = request->is_lossless ? (void *)set_pixels(call, &picture) : (void *)set_planes(call, &picture);
  write_head(call);
  size_t start = call->size;
  if (!encoding_has_failed(call) && !WebPEncode(&config, &picture)) {
    bool lacks_memory =
        picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY || picture.error_code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    encoding_fail(
        call, lacks_memory ? CDECODING_NO_MEMORY : CDECODING_UNSUPPORTED, "libwebp reports the error %d", picture.error_code);
  }
  WebPPictureFree(&picture);
  free(own);
  if (encoding_has_failed(call)) return;
  remove_head(call, start);
  write_tail(call);
}

#endif
