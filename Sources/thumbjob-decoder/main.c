// Decodes pictures for thumbjob. The process can reach nothing but the picture and shared memory.

#include "cfence.h"
#include "cpictures.h"

int main(int count, char **arguments) { return cfence_run(count, arguments, (cfence_work){.decode = cpictures_decode}); }
