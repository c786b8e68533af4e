// What all encoders share: the request, and the memory for the file.

#ifndef ENCODING_H
#define ENCODING_H

#include "cencoders.h"

#pragma clang assume_nonnull begin

/// The encoding of one picture.
typedef struct encoding {
  const cencoding_request *request;
  const cencoding_progress *progress;
  cdecoding_reply *reply;
  uint8_t *memory;
  size_t size;  ///< bytes of the file so far
} encoding;

/// Ends encoding. Only the first call has an effect.
void encoding_fail(encoding *call, cdecoding_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Appends bytes to the file. Returns false, and ends encoding, if there is no room for them.
bool encoding_write(encoding *call, const void *bytes, size_t count);

static inline bool encoding_has_failed(const encoding *call) { return call->reply->status != CDECODING_OK; }

/// The first sample of a plane.
static inline uint8_t *encoding_plane(const encoding *call, unsigned index) {
  return call->memory + call->request->planes[index].offset;
}

/// How many planes have colours: 1 or 3.
static inline unsigned encoding_colors(const encoding *call) {
  return call->request->samples == CENCODING_GREY ? 1 : 3;
}

/// The alpha plane; NULL if there is none.
static inline uint8_t *_Nullable encoding_alpha(const encoding *call) {
  return call->request->has_alpha ? encoding_plane(call, encoding_colors(call)) : NULL;
}

/// Whether chroma has fewer samples than luma.
static inline bool encoding_halves_chroma(const encoding *call) {
  const cencoding_request *request = call->request;
  return request->samples == CENCODING_YCC && (request->width > 1 || request->height > 1) &&
         (request->planes[1].columns < request->width || request->planes[1].rows < request->height);
}

void encode_webp(encoding *call);
void encode_avif(encoding *call);
void encode_png(encoding *call);

#pragma clang assume_nonnull end

#endif
