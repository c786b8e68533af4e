// The messages between thumbjob and a decoder or encoder process, and the memory that both map.
//
// They are sent over a socket of type SOCK_SEQPACKET, so each message arrives whole. The process sends a hello once it is
// ready. From then on each request gets one reply.
//
//     thumbjob                                   decoder process
//        <- cdecoding_hello                         fenced, and ready
//        -> cdecoding_request_message               with two descriptors: the file, and the shared memory
//        <- cdecoding_reply_message                 the planes are in the shared memory
//
// An encoder process does the same, with planes in the shared memory at first and the file there in the end. It has no file to
// read: in place of a file's descriptor it gets that of the shared memory a second time.
//
// thumbjob trusts nothing that the process says or writes: a picture may have taken it over.

#ifndef CDECODING_WIRE_H
#define CDECODING_WIRE_H

#include "cdecoding.h"
#include "cencoding.h"

#include <sys/types.h>

#pragma clang assume_nonnull begin

/// The descriptors of the decoder process, besides 0 to 2, which are /dev/null.
#define CDECODING_SOCKET 3    ///< the socket
#define CDECODING_LIFELINE 4  ///< the end of a pipe to read; no byte ever comes. The process is killed when the other end closes
/// The descriptors of a request, the file and the shared memory, have these numbers.
#define CDECODING_FIRST_FREE 5
#define CDECODING_DESCRIPTORS 7

/// The first word of each message. It changes whenever a message or a structure does, so that a program of another version is
/// recognised.
#define CDECODING_MAGIC 0x746a0006u

/// The only argument that the decoder process accepts: no fence.
#define CDECODING_UNFENCED "unfenced"

/// The stack that decoders need, in bytes.
#define CDECODING_STACK (512 << 10)
/// The same with that of the frames of main() and of what it calls, arguments and environment.
#define CDECODING_WHOLE_STACK (640 << 10)
/// The exit status, without a hello, of a process that may have no such stack (RLIMIT_STACK).
#define CDECODING_SMALL_STACK 71

/// What the process does to itself before it reads the first request.
typedef enum cdecoding_fence_part {
  CDECODING_FENCE_PRIVILEGES = 0,  ///< PR_SET_NO_NEW_PRIVS
  CDECODING_FENCE_CALLS,           ///< a seccomp filter of system calls
  CDECODING_FENCE_LIMITS,          ///< no core files, no processes, no file sizes, few descriptors
  CDECODING_FENCE_LIFELINE,        ///< the kernel ends it when thumbjob ends
  CDECODING_FENCE_OOM,             ///< oom_score_adj: the kernel's OOM killer takes it before others
  CDECODING_FENCE_CAPABILITIES,    ///< none of root's capabilities
} cdecoding_fence_part;

#define CDECODING_FENCE_PARTS 6

/// In `faults`: not tried.
#define CDECODING_NOT_TRIED (-1)

/// The first message of the process.
typedef struct cdecoding_hello {
  uint32_t magic;
  /// For each part of the fence 0 if it holds, or the value of errno with which it failed, or CDECODING_NOT_TRIED.
  int32_t faults[CDECODING_FENCE_PARTS];
} cdecoding_hello;

/// What is asked of a process.
typedef enum cdecoding_task {
  CDECODING_DECODE = 0,
  CDECODING_ENCODE,
} cdecoding_task;

/// A request. SCM_RIGHTS brings the descriptor of the file, which is only read, and that of the shared memory.
typedef struct cdecoding_request_message {
  uint32_t magic;
  cdecoding_task task;
  uint64_t number;       ///< the reply has the same
  uint64_t file_size;    ///< bytes of the file
  uint64_t memory_size;  ///< bytes for planes and profile, or for all that an encoder reads and writes
  union {
    cdecoding_request request;
    cencoding_request encoding;
  };
} cdecoding_request_message;

/// The reply to a request.
typedef struct cdecoding_reply_message {
  uint32_t magic;
  uint32_t reserved;
  uint64_t number;
  cdecoding_reply reply;
} cdecoding_reply_message;

/// What the shared memory begins with. Tiles, extents and, from the next page on, the memory of the request follow.
typedef struct cdecoding_shared_header {
  /// How much is decoded or encoded, in parts of CDECODING_PROGRESS_WHOLE. Written by the process, atomically.
  uint32_t progress;
  /// 1 once the process has taken the request, before it reads a byte of the file. Written by the process, atomically.
  uint32_t is_taken;
  uint32_t reserved[14];
} cdecoding_shared_header;

#define CDECODING_PROGRESS_WHOLE 65536u

/// The most tiles and the most extents of a request.
#define CDECODING_MAX_TILES 65536u
#define CDECODING_MAX_EXTENTS 1048576u

/// The largest memory of a request.
#define CDECODING_MAX_MEMORY ((uint64_t)1 << 32)

/// Where the parts of the shared memory are, in bytes from its beginning.
typedef struct cdecoding_layout {
  size_t tiles, extents, planes, size;
} cdecoding_layout;

/// Where the parts of the shared memory for a request are. Returns false if it asks for too much.
///
/// - `request`: NULL if something is to be encoded; then there are neither tiles nor extents.
bool cdecoding_lay_out(const cdecoding_request *_Nullable request, uint64_t memory_size, cdecoding_layout *layout);

/// Sends a message without blocking and without SIGPIPE. Returns 0 or a value of errno.
int cdecoding_send(int socket, const void *message, size_t size);

/// Sends a request with the descriptors of the file and of the shared memory. Returns 0 or a value of errno.
int cdecoding_send_request(int socket, const cdecoding_request_message *message, int file, int memory);

/// Waits for a request. Returns whether one came. If so, the caller closes the two descriptors. If not, the other side has
/// closed the socket, or has sent anything else.
bool cdecoding_receive_request(int socket, cdecoding_request_message *message, int *file, int *memory);

#pragma clang assume_nonnull end

#endif
