//go:build capi && cgo && linux

/* The text of the last error of each thread. */
#include <stdio.h>

#include "library.h"

static __thread char text[1024];

void ggo_set_error(const char *new) { snprintf(text, sizeof text, "%s", new); }

const char *gaspigo_error(void) { return text; }
