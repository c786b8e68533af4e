#define _GNU_SOURCE

#include "bad_deeds.h"
#include "cdecoding_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The number of the request, which the process is not told but can guess: requests are counted.
static uint64_t number;

static void send_reply(uint64_t own_number, cdecoding_status status, size_t size) {
  cdecoding_reply_message message = {.magic = CDECODING_MAGIC, .number = own_number, .reply = {.status = status}};
  cdecoding_send(CDECODING_SOCKET, &message, size);
}

#define BLOCK (64 << 10)

/// Takes all the memory that it gets, writes to it, and frees it.
static void allocate(cdecoding_reply *reply) {
  size_t taken = 0;
  void **last = NULL;
  for (;;) {
    void **block = malloc(BLOCK);
    if (!block) break;
    memset(block, 1, BLOCK);
    *block = (void *)last;
    last = block;
    taken += BLOCK;
  }
  while (last) {
    void **next = (void **)*last;
    free((void *)last);
    last = next;
  }
  reply->status = CDECODING_DAMAGED;
  snprintf(reply->message, sizeof reply->message, "%zu", taken);
}

/// Maps as many shared pages without a file as it gets.
static void map_shared(cdecoding_reply *reply) {
  size_t taken = 0;
  while (mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) taken += BLOCK;
  reply->status = CDECODING_DAMAGED;
  snprintf(reply->message, sizeof reply->message, "%zu", taken);
}

static __attribute__((noinline)) int overflow_stack(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : overflow_stack(depth + 1) + room[0];
}

static void make_executable(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
}

static void raise_limit(void) {
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// Tries a system call that the fence forbids. Reports it as done if the process survives.
static void call_system(uint64_t deed) {
  switch (deed) {
    case BAD_OPENS_FILE: open("/etc/passwd", O_RDONLY); break;
    case BAD_CONNECTS: socket(AF_INET, SOCK_STREAM, 0); break;
    case BAD_FORKS: fork(); break;
    case BAD_EXECUTES: execl("/bin/true", "true", (char *)NULL); break;
    case BAD_WRITES_FILE: pwrite(CDECODING_FIRST_FREE, "x", 1, 0); break;
    case BAD_SHRINKS_MEMORY: ftruncate(CDECODING_FIRST_FREE + 1, 0); break;
    case BAD_MAPS_EXECUTABLE: make_executable(); break;
    case BAD_RAISES_LIMIT: raise_limit(); break;
    case BAD_KILLS: kill(getppid(), 0); break;
    case BAD_TRACES: ptrace(PTRACE_TRACEME, 0, NULL, NULL); break;
    case BAD_STARTS_THREAD: syscall(SYS_clone3, NULL, 0); break;
    case BAD_CLOSES_LIFELINE: syscall(SYS_close, CDECODING_LIFELINE); break;
    // The kernel ignores the upper half of the number.
    case BAD_CLOSES_LIFELINE_BY_ALIAS: syscall(SYS_close, (1L << 32) + CDECODING_LIFELINE); break;
    default: break;
  }
}

/// Sends something other than one right reply.
static void lie(uint64_t deed, const cdecoding_request *request, cdecoding_reply *reply) {
  static const char garbage[] = "this is no reply";
  switch (deed) {
    case BAD_ANSWERS_TWICE: send_reply(number, CDECODING_OK, sizeof(cdecoding_reply_message)); break;
    case BAD_ANSWERS_BEFORE: send_reply(number + 1000, CDECODING_OK, sizeof(cdecoding_reply_message)); break;
    case BAD_SENDS_GARBAGE: cdecoding_send(CDECODING_SOCKET, garbage, sizeof garbage); break;
    case BAD_SENDS_SHORT: send_reply(number, CDECODING_OK, sizeof(cdecoding_reply_message) - 1); break;
    case BAD_SENDS_LONG: {
      char bytes[4096] = {0};
      cdecoding_send(CDECODING_SOCKET, bytes, sizeof bytes);
      break;
    }
    case BAD_FLOODS: while (cdecoding_send(CDECODING_SOCKET, garbage, sizeof garbage) == 0) {} break;
    case BAD_STATUS: reply->status = (cdecoding_status)1234; break;
    case BAD_PROFILE_SIZE: reply->profile_size = request->profile_capacity + 1; break;
    case BAD_TEXT:
      reply->status = CDECODING_DAMAGED;
      memset(reply->message, '\033', sizeof reply->message);
      memset(reply->warnings, 0xff, sizeof reply->warnings);
      break;
    case BAD_CLAIMS_BAD_CALL: reply->status = CDECODING_BAD_CALL; break;
    default: break;
  }
}

/// Ends, or does not.
static void end(uint64_t deed, uint8_t *memory) {
  switch (deed) {
    case BAD_CRASHES: *(volatile int *)8 = 1; break;
    case BAD_ABORTS: abort();
    case BAD_FREES_TWICE: {
      char *volatile bytes = malloc(100), *volatile same = bytes;
      free(bytes);
      free(same);
      break;
    }
    case BAD_OVERFLOWS_STACK: overflow_stack(0); break;
    case BAD_EXITS: _exit(3);
    case BAD_HANGS: for (volatile bool is_hanging = true; is_hanging;) {} break;
    case BAD_DENIES:
      // Without tiles, the header is in the page before the memory for planes.
      memset(memory - 4096, 0, sizeof(cdecoding_shared_header));
      abort();
    default: break;
  }
}

/// Fills the planes with the first byte of the file, and says so.
static void behave(const cdecoding_request *request, const cdecoding_input *input, uint8_t *memory, size_t size) {
  uint8_t byte = 0;
  if (input->read(input->context, 0, &byte, 1) != 1) byte = 0;
  input->proceed(input->context, 0.5);
  memset(memory, byte, size);
  if (request->profile_capacity >= 4) memcpy(memory + request->profile_offset, "icc!", 4);
}

void bad_deeds_decode(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents,
    const cdecoding_input *input, uint8_t *memory, size_t memory_size, cdecoding_reply *reply) {
  number++;
  uint64_t deed = request->start;
  behave(request, input, memory, memory_size);
  reply->profile_size = request->profile_capacity >= 4 ? 4 : 0;
  // The sums over tiles and extents, by which a test sees that they arrive.
  uint64_t sum = 0;
  for (uint32_t index = 0; index < request->tile_count; index++) sum += tiles[index].width;
  for (uint32_t index = 0; index < request->extent_count; index++) sum += extents[index].size;
  if (sum > 0) snprintf(reply->warnings[0], sizeof reply->warnings[0], "%llu", (unsigned long long)sum);
  switch (deed) {
    case BAD_ALLOCATES: allocate(reply); break;
    case BAD_MAPS_SHARED: map_shared(reply); break;
    case BAD_LEAKS: (void)!malloc(2 << 20); break;
    default: break;
  }
  call_system(deed);
  lie(deed, request, reply);
  end(deed, memory);
}
