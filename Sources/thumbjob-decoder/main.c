// Decodes pictures for thumbjob, behind a fence.

#include "cfence.h"
#include "cpictures.h"

int main(int count, char **arguments) { return cfence_run(count, arguments, cpictures_decode); }
