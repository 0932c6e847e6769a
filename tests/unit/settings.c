#include "settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/config.h"

void set(struct config *cfg, const char *key, const char *value)
{
    assert_int_equal(config_set(cfg, key, value), 0);
}

void set_number(struct config *cfg, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    set(cfg, key, text);
}
