/* Functions that nobody may call here: each overruns a buffer, keeps hidden
 * state or loses errors. The Makefile includes this file ahead of every source
 * (-include), so that a call does not compile; no source names it itself.
 *
 * Instead: struct text or xasprintf() for strings, next_token() for strtok(),
 * strtol() and strtof() with an end pointer for atoi() and atof(), an arena for
 * alloca(). */
#ifndef ATTN_BASE_BANNED_H
#define ATTN_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANNED(function) call_of_banned_function_##function

#undef alloca
#undef atof
#undef atoi
#undef atol
#undef atoll
#undef gets
#undef sprintf
#undef strcat
#undef strcpy
#undef strncat
#undef strncpy
#undef strtok
#undef strtok_r
#undef vsprintf

#define alloca(size) BANNED(alloca)
#define atof(text) BANNED(atof)
#define atoi(text) BANNED(atoi)
#define atol(text) BANNED(atol)
#define atoll(text) BANNED(atoll)
#define gets(buffer) BANNED(gets)
#define sprintf(...) BANNED(sprintf)
#define strcat(to, from) BANNED(strcat)
#define strcpy(to, from) BANNED(strcpy)
#define strncat(to, from, size) BANNED(strncat)
#define strncpy(to, from, size) BANNED(strncpy)
#define strtok(text, delimiters) BANNED(strtok)
#define strtok_r(text, delimiters, state) BANNED(strtok_r)
#define vsprintf(...) BANNED(vsprintf)

#endif
