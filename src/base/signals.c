#include "base/signals.h"

#include <signal.h>

/* Room for the frame of any processor's registers, and a small handler. */
enum { STACK_BYTES = 1 << 16 };

/* The first time only: the stack belongs to the thread. */
static void make_stack(void)
{
    static _Alignas(64) char memory[STACK_BYTES];
    stack_t now, stack = { .ss_sp = memory, .ss_size = STACK_BYTES };
    sigaltstack(NULL, &now);
    if (now.ss_flags & SS_DISABLE)
        sigaltstack(&stack, NULL);
}

void signals_catch(int number, void (*handler)(int), bool once)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    make_stack();
    if (once)
        action.sa_flags |= (int)SA_RESETHAND;
    sigaction(number, &action, NULL);
}
