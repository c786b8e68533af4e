// The process that decodes or encodes pictures for thumbjob: its fence, and the loop that takes requests. What decodes or encodes
// is given by the program, so that tests can put something harmful in its place.

#ifndef CFENCE_H
#define CFENCE_H

#include "cdecoding_wire.h"

#pragma clang assume_nonnull begin

/// Decodes a picture, as cpictures_decode() does.
typedef void (*cfence_decode)(
    const cdecoding_request *request, const cdecoding_tile *_Nullable tiles, const cdecoding_extent *_Nullable extents,
    const cdecoding_input *input, uint8_t *memory, size_t memory_size, cdecoding_reply *reply);

/// Encodes a picture, as cencoders_encode() does.
typedef void (*cfence_encode)(
    const cencoding_request *request, const cencoding_progress *progress, uint8_t *memory, size_t memory_size,
    cdecoding_reply *reply);

/// What a program does with requests. It ends at one of a kind that it lacks.
typedef struct cfence_work {
  cfence_decode _Nullable decode;
  cfence_encode _Nullable encode;
} cfence_work;

/// Fences the process off, says hello, and answers requests until thumbjob closes the socket.
///
/// - `arguments`: of main(). The only argument is CDECODING_UNFENCED; without it the process is fenced.
///
/// Returns the exit status: 0 at the end, 64 if thumbjob has not started the process.
int cfence_run(int count, char *_Nonnull *_Nullable arguments, cfence_work work);

/// Answers the request that there is not enough memory, and ends the process: for libraries that cannot go on without it.
_Noreturn void cfence_out_of_memory(void);

#pragma clang assume_nonnull end

#endif
