#define _GNU_SOURCE

#include "cfence.h"
#include "fence.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/// A request that is carried out.
typedef struct task {
  int file;
  cdecoding_shared_header *shared;
  cdecoding_reply_message reply;
} task;

/// The task that is carried out; NULL between requests. Only for cfence_out_of_memory(), which has no argument.
static task *_Nullable current;

static ptrdiff_t read_file(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  const task *own = context;
  if (offset > INT64_MAX) return 0;
  ssize_t count;
  do {
    count = pread(own->file, into, capacity < SSIZE_MAX ? capacity : SSIZE_MAX, (off_t)offset);
  } while (count < 0 && errno == EINTR);
  return count;
}

static void advance(void *context, double done) {
  task *own = context;
  double limited = done >= 0 ? done < 1 ? done : 1 : 0;
  __atomic_store_n(&own->shared->progress, (uint32_t)(limited * CDECODING_PROGRESS_WHOLE), __ATOMIC_RELAXED);
}

/// Decoding never stops by itself: thumbjob kills the process.
static bool proceed(void *context, double done) {
  advance(context, done);
  return true;
}

static void answer(const task *own) {
  if (cdecoding_send(CDECODING_SOCKET, &own->reply, sizeof own->reply) != 0) _exit(1);
}

static void fail_without_memory(task *own) {
  own->reply.reply = (cdecoding_reply){.status = CDECODING_NO_MEMORY};
  snprintf(own->reply.reply.message, CDECODING_MESSAGE_SIZE, "the process needs more memory than it may have");
}

void cfence_out_of_memory(void) {
  if (!current) _exit(1);
  fail_without_memory(current);
  answer(current);
  _exit(0);
}

/// Registers cfence_out_of_memory() with the C++ library, if one is loaded. Without it, an exception would end the process like a
/// crash.
static void set_new_handler(void) {
  // std::set_new_handler(). Which C++ library the others use is known only now.
  void *symbol = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
  void *(*function)(void (*)(void));
  memcpy(&function, &symbol, sizeof function);
  if (function) function(cfence_out_of_memory);
}

/// Carries out a request in the shared memory.
static void carry_out(
    task *own, const cdecoding_request_message *message, uint8_t *shared, const cdecoding_layout *layout,
    cfence_work work) {
  own->shared = (cdecoding_shared_header *)(void *)shared;
  // From here on, the picture is to blame for what happens to the process.
  __atomic_store_n(&own->shared->is_taken, 1, __ATOMIC_RELAXED);
  cdecoding_input input = {.context = own, .size = message->file_size, .read = read_file, .proceed = proceed};
  cencoding_progress progress = {.context = own, .advance = advance};
  uint8_t *memory = shared + layout->planes;
  size_t memory_size = (size_t)message->memory_size;
  current = own;
  if (message->task == CDECODING_ENCODE) {
    work.encode(&message->encoding, &progress, memory, memory_size, &own->reply.reply);
  } else {
    work.decode(
        &message->request, (const cdecoding_tile *)(void *)(shared + layout->tiles),
        (const cdecoding_extent *)(void *)(shared + layout->extents), &input, memory, memory_size, &own->reply.reply);
  }
  current = NULL;
}

/// Takes a request and replies to it. Returns false if there is none any more.
static bool serve(cfence_work work) {
  cdecoding_request_message message;
  task own = {.reply = {.magic = CDECODING_MAGIC}};
  int memory;
  if (!cdecoding_receive_request(CDECODING_SOCKET, &message, &own.file, &memory)) return false;
  bool encodes = message.task == CDECODING_ENCODE;
  if (encodes ? !work.encode : message.task != CDECODING_DECODE || !work.decode) return false;
  cdecoding_layout layout;
  if (!cdecoding_lay_out(encodes ? NULL : &message.request, message.memory_size, &layout)) return false;
  own.reply.number = message.number;
  uint8_t *shared = mmap(NULL, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (shared == MAP_FAILED) {
    fail_without_memory(&own);
  } else {
    carry_out(&own, &message, shared, &layout, work);
    munmap(shared, layout.size);
  }
  close(own.file);
  close(memory);
  // Memory goes back before the reply: then thumbjob sees what the process keeps.
  malloc_trim(0);
  answer(&own);
  return true;
}

/// Lets the stack grow now to the size that decoders need. Later, a limit of the address space would turn its growth into a
/// crash.
static __attribute__((noinline)) void grow_stack(void) {
  volatile char bytes[CDECODING_STACK];
  for (size_t place = 0; place < sizeof bytes; place += 4096) bytes[sizeof bytes - 1 - place] = 0;
  // The address space stays; the pages go back.
  madvise((void *)(((uintptr_t)bytes + 4095) / 4096 * 4096), CDECODING_STACK - 3 * 4096, MADV_DONTNEED);
}

/// Sets the allocator so that what one picture has taken goes back to the system after it, instead of counting towards the
/// limit of the next one.
static void prepare_memory(void) {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  set_new_handler();
  grow_stack();
}

static bool was_started_by_thumbjob(int count, char **arguments) {
  int type = 0;
  socklen_t size = sizeof type;
  return (count == 1 || (count == 2 && strcmp(arguments[1], CDECODING_UNFENCED) == 0)) &&
         getsockopt(CDECODING_SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int cfence_run(int count, char **arguments, cfence_work work) {
  if (!was_started_by_thumbjob(count, arguments)) {
    fputs("thumbjob starts this program for its pictures; it does nothing by itself\n", stderr);
    return 64;
  }
  fence_ignore_signals();
  if (!fence_has_stack(CDECODING_WHOLE_STACK)) return CDECODING_SMALL_STACK;
  prepare_memory();
  cdecoding_hello hello = {.magic = CDECODING_MAGIC};
  for (size_t part = 0; part < CDECODING_FENCE_PARTS; part++) hello.faults[part] = CDECODING_NOT_TRIED;
  hello.faults[CDECODING_FENCE_LIFELINE] = fence_tie_to_lifeline();
  if (count == 1) fence_raise(hello.faults);
  malloc_trim(0);
  if (cdecoding_send(CDECODING_SOCKET, &hello, sizeof hello) != 0) return 1;
  while (serve(work)) {
  }
  _exit(0);
}
