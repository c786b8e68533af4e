// Encodes thumbnails for thumbjob. The process can reach nothing but shared memory.

#include "cencoders.h"
#include "cfence.h"

int main(int count, char **arguments) { return cfence_run(count, arguments, (cfence_work){.encode = cencoders_encode}); }
