// This file is for a build without the trait Network. Once ccurl_load has returned its reason, no other function is called.
#ifndef THUMBJOB_NETWORK
#include "ccurl.h"

#include <stdlib.h>

const char *ccurl_load(void) { return "this thumbjob is built without the network"; }

bool ccurl_hash(const void *key, size_t key_size, const void *data, size_t size, uint8_t *hash) { return false; }

ccurl_multi *ccurl_multi_create(long connections, long per_host) { return NULL; }

void ccurl_multi_destroy(ccurl_multi *multi) { abort(); }

ccurl_transfer *ccurl_multi_add(ccurl_multi *multi, const ccurl_request *request, const ccurl_callbacks *callbacks) {
  return NULL;
}

void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer) { abort(); }

void ccurl_multi_continue(ccurl_multi *multi, ccurl_transfer *transfer) { abort(); }

void ccurl_multi_run(ccurl_multi *multi, int milliseconds) { abort(); }

void ccurl_multi_wake(ccurl_multi *multi) { abort(); }
#endif
