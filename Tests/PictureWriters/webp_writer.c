#ifdef THUMBJOB_FORMATS
#include <stdlib.h>
#include <webp/encode.h>

#include "picture_writers.h"

written_file write_webp(const webp_recipe *recipe, const uint8_t *pixels) {
  written_file file = {0};
  WebPConfig config;
  WebPPicture picture;
  if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) return file;
  config.quality = (float)recipe->quality;
  config.lossless = recipe->is_lossless;
  config.exact = recipe->keeps_hidden;
  config.partitions = recipe->partitions;
  config.method = 2;
  picture.use_argb = 1;
  picture.width = (int)recipe->width;
  picture.height = (int)recipe->height;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  if (WebPPictureImportRGBA(&picture, pixels, (int)recipe->width * 4) && WebPEncode(&config, &picture)) {
    file = (written_file){writer.mem, writer.size};
  } else {
    WebPMemoryWriterClear(&writer);
  }
  WebPPictureFree(&picture);
  return file;
}
#endif
