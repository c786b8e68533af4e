#include "clibjpeg.h"
