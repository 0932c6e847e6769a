/* The version all programs of the toolkit share, and how they were built:
 * "0.1.0 (gcc, oneDNN)". The Makefile writes build.h. */
#ifndef ATTN_BASE_VERSION_H
#define ATTN_BASE_VERSION_H

#include "build.h"

#define ATTN_VERSION "0.1.0 (" ATTN_BUILD ")"

#endif
