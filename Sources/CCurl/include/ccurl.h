// Transfers over HTTP with libcurl, which is loaded when it is first needed: linked to the program, it would make the start of
// every run load some thirty libraries.
//
// All functions but ccurl_load, ccurl_hash and ccurl_multi_wake must be called on one thread.
#ifndef CCURL_H
#define CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// Loads libcurl. Returns why it cannot be used, as a text that stays valid, or NULL.
const char *_Nullable ccurl_load(void);

/// The bytes of a hash of SHA-256.
enum { CCURL_HASH_SIZE = 32 };

/// Hashes data with SHA-256, with a key by HMAC or without one, by libcrypto, which libcurl itself uses. Call ccurl_load before.
/// Returns false if there is no libcrypto.
///
/// Source: FIPS 180-4, FIPS 198-1.
bool ccurl_hash(
    const void *_Nullable key, size_t key_size, const void *_Nullable data, size_t size, uint8_t *_Nonnull hash);

/// A request. The texts are copied.
typedef struct {
  const char *_Nonnull url;
  /// Lines such as "If-None-Match: x", without an end of line.
  const char *_Nonnull const *_Nullable headers;
  size_t header_count;
  const char *_Nonnull user_agent;
  /// "GET", "HEAD" or "PUT".
  const char *_Nonnull method;
  /// What PUT sends. It is not copied, and must stay until the transfer has ended or is removed.
  const void *_Nullable body;
  size_t body_size;
  /// Whether names such as ".." in the path of the URL stay, as keys in S3 and their signatures need it.
  bool is_path_literal;
  /// "user:password" for the host of the URL, and never for another; NULL if there is none.
  const char *_Nullable user_password;
  /// The authorities of certificates; NULL for those of the system.
  const char *_Nullable authorities_file;
  const char *_Nullable authorities_folder;
  /// The most redirects; with 0 a redirect is an answer like others.
  long redirects;
  long connect_milliseconds;
  /// After so many seconds without a byte, the transfer fails.
  long stall_seconds;
} ccurl_request;

/// What becomes of bytes that have arrived.
typedef enum { CCURL_TAKEN, CCURL_PAUSE, CCURL_STOP } ccurl_answer;

/// Called on the thread that runs the transfers.
typedef struct {
  void *_Nonnull context;
  /// A line of the header with its end. False ends the transfer.
  bool (*_Nonnull header)(void *_Nonnull context, const char *_Nonnull line, size_t length);
  /// Bytes of the body. After a pause, the same bytes come again.
  ccurl_answer (*_Nonnull body)(void *_Nonnull context, const void *_Nonnull bytes, size_t count);
  /// Whether the transfer may connect to an address.
  bool (*_Nonnull may_connect)(void *_Nonnull context, const struct sockaddr *_Nonnull address);
  /// The transfer has ended and is removed: a CURLcode, and libcurl's text.
  void (*_Nonnull ended)(void *_Nonnull context, int code, const char *_Nonnull text);
} ccurl_callbacks;

typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_transfer ccurl_transfer;

/// Transfers that share connections: at most so many in all, and to one host. NULL if there is no memory.
ccurl_multi *_Nullable ccurl_multi_create(long connections, long per_host);

/// Destroys it. It must have no transfer.
void ccurl_multi_destroy(ccurl_multi *_Nonnull multi);

/// Begins a transfer. NULL if there is no memory, or the request has something that libcurl refuses.
ccurl_transfer *_Nullable ccurl_multi_add(
    ccurl_multi *_Nonnull multi, const ccurl_request *_Nonnull request, const ccurl_callbacks *_Nonnull callbacks);

/// Ends a transfer without a call of `ended`.
void ccurl_multi_remove(ccurl_multi *_Nonnull multi, ccurl_transfer *_Nonnull transfer);

/// Continues a transfer that was paused. It calls `body`, and `ended` if the body was not taken.
void ccurl_multi_continue(ccurl_multi *_Nonnull multi, ccurl_transfer *_Nonnull transfer);

/// Waits for at most a time until something can be done, and does it.
void ccurl_multi_run(ccurl_multi *_Nonnull multi, int milliseconds);

/// Ends the wait of ccurl_multi_run. May be called on any thread.
void ccurl_multi_wake(ccurl_multi *_Nonnull multi);

#endif
