#ifdef THUMBJOB_NETWORK
#include "ccurl.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// CURLOPT_PROTOCOLS_STR came with 7.85, and CURLOPT_QUICK_EXIT with this version.
static const unsigned oldest_version = 0x075700;

static struct {
  CURLcode (*global_init)(long);
  curl_version_info_data *(*version_info)(CURLversion);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  CURLcode (*easy_pause)(CURL *, int);
  const char *(*easy_strerror)(CURLcode);
  struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
  void (*slist_free_all)(struct curl_slist *);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *);
  CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
  CURLMcode (*multi_add_handle)(CURLM *, CURL *);
  CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
  CURLMcode (*multi_perform)(CURLM *, int *);
  CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned, int, int *);
  CURLMcode (*multi_wakeup)(CURLM *);
  CURLMsg *(*multi_info_read)(CURLM *, int *);
} curl;

// Functions of libcrypto. Their declarations are the same in its versions 1.1 and 3.
static struct {
  const void *(*sha256)(void);
  unsigned char *(*hmac)(
      const void *, const void *, int, const unsigned char *, size_t, unsigned char *, unsigned *);
  int (*digest)(const void *, size_t, unsigned char *, unsigned *, const void *, void *);
} crypto;

struct ccurl_multi {
  CURLM *handle;
};

struct ccurl_transfer {
  CURL *handle;
  ccurl_callbacks callbacks;
  struct curl_slist *headers;
  char error[CURL_ERROR_SIZE];
};

// MARK: Loading

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[256];

static bool find(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    snprintf(problem, sizeof problem, "libcurl lacks %s", name);
    return false;
  }
  memcpy(place, &symbol, sizeof symbol);
  return true;
}

static void load_crypto(void) {
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  void *sha256 = dlsym(library, "EVP_sha256"), *hmac = dlsym(library, "HMAC"), *digest = dlsym(library, "EVP_Digest");
  if (sha256 == NULL || hmac == NULL || digest == NULL) return;
  memcpy(&crypto.sha256, &sha256, sizeof sha256);
  memcpy(&crypto.hmac, &hmac, sizeof hmac);
  memcpy(&crypto.digest, &digest, sizeof digest);
}

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(problem, sizeof problem, "libcurl.so.4 cannot be loaded; install libcurl4");
    return;
  }
  if (!find(library, "curl_global_init", &curl.global_init) || !find(library, "curl_version_info", &curl.version_info) ||
      !find(library, "curl_easy_init", &curl.easy_init) || !find(library, "curl_easy_cleanup", &curl.easy_cleanup) ||
      !find(library, "curl_easy_setopt", &curl.easy_setopt) || !find(library, "curl_easy_getinfo", &curl.easy_getinfo) ||
      !find(library, "curl_easy_pause", &curl.easy_pause) || !find(library, "curl_easy_strerror", &curl.easy_strerror) ||
      !find(library, "curl_slist_append", &curl.slist_append) ||
      !find(library, "curl_slist_free_all", &curl.slist_free_all) ||
      !find(library, "curl_multi_init", &curl.multi_init) || !find(library, "curl_multi_cleanup", &curl.multi_cleanup) ||
      !find(library, "curl_multi_setopt", &curl.multi_setopt) ||
      !find(library, "curl_multi_add_handle", &curl.multi_add_handle) ||
      !find(library, "curl_multi_remove_handle", &curl.multi_remove_handle) ||
      !find(library, "curl_multi_perform", &curl.multi_perform) || !find(library, "curl_multi_poll", &curl.multi_poll) ||
      !find(library, "curl_multi_wakeup", &curl.multi_wakeup) ||
      !find(library, "curl_multi_info_read", &curl.multi_info_read)) {
    return;
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    snprintf(problem, sizeof problem, "libcurl cannot be initialised");
    return;
  }
  const curl_version_info_data *version = curl.version_info(CURLVERSION_NOW);
  if (version->version_num < oldest_version) {
    snprintf(problem, sizeof problem, "libcurl %s is too old; 7.87 is needed", version->version);
  }
  load_crypto();
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return problem[0] == 0 ? NULL : problem;
}

bool ccurl_hash(const void *key, size_t key_size, const void *data, size_t size, uint8_t *hash) {
  unsigned length = 0;
  if (crypto.sha256 == NULL || key_size > INT_MAX) return false;
  if (key == NULL) return crypto.digest(data, size, hash, &length, crypto.sha256(), NULL) == 1;
  return crypto.hmac(crypto.sha256(), key, (int)key_size, data, size, hash, &length) != NULL;
}

// MARK: Callbacks

static size_t receive_header(char *line, size_t size, size_t count, void *context) {
  const ccurl_transfer *transfer = context;
  (void)size;  // always 1
  return transfer->callbacks.header(transfer->callbacks.context, line, count) ? count : 0;
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *context) {
  const ccurl_transfer *transfer = context;
  (void)size;
  switch (transfer->callbacks.body(transfer->callbacks.context, bytes, count)) {
    case CCURL_TAKEN: return count;
    case CCURL_PAUSE: return CURL_WRITEFUNC_PAUSE;
    case CCURL_STOP: break;
  }
  return count == 0 ? 1 : 0;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  const ccurl_transfer *transfer = context;
  (void)purpose;
  if (!transfer->callbacks.may_connect(transfer->callbacks.context, &address->addr)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// MARK: Transfers

ccurl_multi *ccurl_multi_create(long connections, long per_host) {
  ccurl_multi *multi = calloc(1, sizeof *multi);
  if (multi == NULL) return NULL;
  multi->handle = curl.multi_init();
  if (multi->handle == NULL) {
    free(multi);
    return NULL;
  }
  curl.multi_setopt(multi->handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
  curl.multi_setopt(multi->handle, CURLMOPT_MAX_HOST_CONNECTIONS, per_host);
  curl.multi_setopt(multi->handle, CURLMOPT_MAXCONNECTS, connections);
  return multi;
}

void ccurl_multi_destroy(ccurl_multi *multi) {
  curl.multi_cleanup(multi->handle);
  free(multi);
}

static bool configure(ccurl_transfer *transfer, const ccurl_request *request) {
  CURL *handle = transfer->handle;
  for (size_t index = 0; index < request->header_count; index++) {
    struct curl_slist *longer = curl.slist_append(transfer->headers, request->headers[index]);
    if (longer == NULL) return false;
    transfer->headers = longer;
  }
  CURLcode code = CURLE_OK;
#define SET(option, value) \
  if (code == CURLE_OK) code = curl.easy_setopt(handle, option, value)
  SET(CURLOPT_PRIVATE, transfer);
  SET(CURLOPT_ERRORBUFFER, transfer->error);
  SET(CURLOPT_URL, request->url);
  SET(CURLOPT_HTTPHEADER, transfer->headers);
  SET(CURLOPT_USERAGENT, request->user_agent);
  SET(CURLOPT_NOSIGNAL, 1L);
  // Without it, a transfer that is removed while its name is looked up would hold up all others until that ends.
  SET(CURLOPT_QUICK_EXIT, 1L);
  // The header of a proxy's tunnel is not that of the answer.
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_NOPROGRESS, 1L);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  // A redirect from https may lead only to https, so that nothing is sent unencrypted that was meant to be secret.
  SET(CURLOPT_REDIR_PROTOCOLS_STR, strncmp(request->url, "https:", 6) == 0 ? "https" : "http,https");
  SET(CURLOPT_PATH_AS_IS, request->is_path_literal ? 1L : 0L);
  if (strcmp(request->method, "HEAD") == 0) SET(CURLOPT_NOBODY, 1L);
  if (strcmp(request->method, "PUT") == 0) {
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
    SET(CURLOPT_POSTFIELDS, request->body != NULL ? request->body : "");
    SET(CURLOPT_CUSTOMREQUEST, "PUT");
  }
  SET(CURLOPT_FOLLOWLOCATION, request->redirects > 0 ? 1L : 0L);
  SET(CURLOPT_MAXREDIRS, request->redirects);
  SET(CURLOPT_UNRESTRICTED_AUTH, 0L);
  SET(CURLOPT_HTTP09_ALLOWED, 0L);
  // Several sources over one connection would share its speed, and one that is paused would hold up the others.
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_CONNECTTIMEOUT_MS, request->connect_milliseconds);
  SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
  SET(CURLOPT_LOW_SPEED_TIME, request->stall_seconds);
  SET(CURLOPT_HEADERFUNCTION, receive_header);
  SET(CURLOPT_HEADERDATA, transfer);
  SET(CURLOPT_WRITEFUNCTION, receive_body);
  SET(CURLOPT_WRITEDATA, transfer);
  SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
  SET(CURLOPT_OPENSOCKETDATA, transfer);
  if (request->user_password != NULL) SET(CURLOPT_USERPWD, request->user_password);
  if (request->authorities_file != NULL) SET(CURLOPT_CAINFO, request->authorities_file);
  if (request->authorities_folder != NULL) SET(CURLOPT_CAPATH, request->authorities_folder);
#undef SET
  return code == CURLE_OK;
}

static void destroy(ccurl_transfer *transfer) {
  if (transfer->handle != NULL) curl.easy_cleanup(transfer->handle);
  curl.slist_free_all(transfer->headers);
  free(transfer);
}

ccurl_transfer *ccurl_multi_add(ccurl_multi *multi, const ccurl_request *request, const ccurl_callbacks *callbacks) {
  ccurl_transfer *transfer = calloc(1, sizeof *transfer);
  if (transfer == NULL) return NULL;
  transfer->callbacks = *callbacks;
  transfer->handle = curl.easy_init();
  if (transfer->handle == NULL || !configure(transfer, request) ||
      curl.multi_add_handle(multi->handle, transfer->handle) != CURLM_OK) {
    destroy(transfer);
    return NULL;
  }
  return transfer;
}

void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer) {
  curl.multi_remove_handle(multi->handle, transfer->handle);
  destroy(transfer);
}

static void end(ccurl_multi *multi, CURL *handle, CURLcode code) {
  ccurl_transfer *transfer = NULL;
  curl.easy_getinfo(handle, CURLINFO_PRIVATE, (char **)&transfer);
  transfer->callbacks.ended(
      transfer->callbacks.context, (int)code, transfer->error[0] != 0 ? transfer->error : curl.easy_strerror(code));
  ccurl_multi_remove(multi, transfer);
}

void ccurl_multi_continue(ccurl_multi *multi, ccurl_transfer *transfer) {
  CURLcode code = curl.easy_pause(transfer->handle, CURLPAUSE_CONT);
  // libcurl would go on with the next bytes, and without these.
  if (code != CURLE_OK) end(multi, transfer->handle, code);
}

void ccurl_multi_run(ccurl_multi *multi, int milliseconds) {
  int running = 0, left = 0;
  // Without a transfer it waits, too, until it is woken.
  if (curl.multi_poll(multi->handle, NULL, 0, milliseconds, NULL) != CURLM_OK) usleep(10000);
  curl.multi_perform(multi->handle, &running);
  for (CURLMsg *message; (message = curl.multi_info_read(multi->handle, &left)) != NULL;) {
    if (message->msg == CURLMSG_DONE) end(multi, message->easy_handle, message->data.result);
  }
}

void ccurl_multi_wake(ccurl_multi *multi) { curl.multi_wakeup(multi->handle); }
#endif
