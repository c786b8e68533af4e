#include "cdecoding_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Both processes are of one build, but a change of these sizes needs another CDECODING_MAGIC.
_Static_assert(sizeof(cdecoding_tile) == 48, "a tile has 48 bytes");
_Static_assert(sizeof(cdecoding_request) == 360, "a request has 360 bytes");
_Static_assert(sizeof(cencoding_request) == 136, "a request to encode has 136 bytes");
_Static_assert(sizeof(cdecoding_reply) == 824, "a reply has 824 bytes");
_Static_assert(sizeof(cdecoding_hello) == 28, "a hello has 28 bytes");
_Static_assert(sizeof(cdecoding_request_message) == 32 + sizeof(cdecoding_request), "there is no padding");
_Static_assert(sizeof(cdecoding_reply_message) == 16 + sizeof(cdecoding_reply), "there is no padding");
_Static_assert(sizeof(cdecoding_shared_header) == 64, "tiles are aligned");

#define PAGE 4096u

bool cdecoding_lay_out(const cdecoding_request *request, uint64_t memory_size, cdecoding_layout *layout) {
  uint32_t tiles = request ? request->tile_count : 0, extents = request ? request->extent_count : 0;
  if (tiles > CDECODING_MAX_TILES || extents > CDECODING_MAX_EXTENTS || memory_size > CDECODING_MAX_MEMORY) return false;
  layout->tiles = sizeof(cdecoding_shared_header);
  layout->extents = layout->tiles + tiles * sizeof(cdecoding_tile);
  size_t end = layout->extents + extents * sizeof(cdecoding_extent);
  layout->planes = (end + PAGE - 1) / PAGE * PAGE;
  layout->size = layout->planes + (size_t)memory_size;
  return true;
}

static int send_whole(int socket, const struct msghdr *header, size_t size) {
  ssize_t sent;
  do {
    sent = sendmsg(socket, header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return errno;
  return (size_t)sent == size ? 0 : EMSGSIZE;
}

int cdecoding_send(int socket, const void *message, size_t size) {
  struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = size};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  return send_whole(socket, &header, size);
}

#define DESCRIPTORS 2

/// Room for the descriptors of a request, aligned as the kernel's structure.
typedef union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
} control;

int cdecoding_send_request(int socket, const cdecoding_request_message *message, int file, int memory) {
  const int descriptors[DESCRIPTORS] = {file, memory};
  struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof *message};
  control room;
  memset(&room, 0, sizeof room);
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptors);
  memcpy(CMSG_DATA(rights), descriptors, sizeof descriptors);
  return send_whole(socket, &header, sizeof *message);
}

bool cdecoding_receive_request(int socket, cdecoding_request_message *message, int *file, int *memory) {
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  control room;
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  ssize_t received;
  do {
    received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received != sizeof *message || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return false;
  if (message->magic != CDECODING_MAGIC) return false;
  struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
  int descriptors[DESCRIPTORS];
  if (!rights || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
      rights->cmsg_len != CMSG_LEN(sizeof descriptors)) {
    return false;
  }
  memcpy(descriptors, CMSG_DATA(rights), sizeof descriptors);
  *file = descriptors[0];
  *memory = descriptors[1];
  return true;
}
