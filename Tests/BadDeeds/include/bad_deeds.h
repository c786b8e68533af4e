// What a decoder may do that a bug has given to an attacker, for the tests of the fence.

#ifndef BAD_DEEDS_H
#define BAD_DEEDS_H

#include "cdecoding.h"

#pragma clang assume_nonnull begin

/// The value of a request's `directory`, which says what is done. Every other value is good behaviour: the planes are filled
/// with the first byte of the file.
typedef enum bad_deed {
  BAD_NONE = 0,

  // Ends, or does not.
  BAD_CRASHES,
  BAD_ABORTS,
  BAD_FREES_TWICE,
  BAD_OVERFLOWS_STACK,
  BAD_EXITS,
  BAD_HANGS,
  BAD_DENIES,  ///< crashes, and says before that it has not taken the request

  // Takes memory.
  BAD_ALLOCATES,   ///< replies with how many bytes it got, as text
  BAD_MAPS_SHARED, ///< the same, with shared mappings
  BAD_LEAKS,       ///< 2 MiB, and replies as if nothing were wrong

  // Makes a system call that the fence forbids.
  BAD_OPENS_FILE,
  BAD_CONNECTS,
  BAD_FORKS,
  BAD_EXECUTES,
  BAD_WRITES_FILE,
  BAD_SHRINKS_MEMORY,
  BAD_MAPS_EXECUTABLE,
  BAD_RAISES_LIMIT,
  BAD_KILLS,
  BAD_TRACES,
  BAD_STARTS_THREAD,
  BAD_CLOSES_LIFELINE,
  BAD_CLOSES_LIFELINE_BY_ALIAS,

  // Sends something other than one right reply.
  BAD_ANSWERS_TWICE,
  BAD_ANSWERS_BEFORE,
  BAD_SENDS_GARBAGE,
  BAD_SENDS_SHORT,
  BAD_SENDS_LONG,
  BAD_FLOODS,
  BAD_STATUS,
  BAD_PROFILE_SIZE,
  BAD_TEXT,
  BAD_CLAIMS_BAD_CALL,
} bad_deed;

/// Decodes nothing, and does the deed.
void bad_deeds_decode(
    const cdecoding_request *request, const cdecoding_tile *_Nullable tiles, const cdecoding_extent *_Nullable extents,
    const cdecoding_input *input, uint8_t *memory, size_t memory_size, cdecoding_reply *reply);

#pragma clang assume_nonnull end

#endif
