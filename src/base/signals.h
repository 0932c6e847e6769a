/* Signal handlers that are safe while matrices are multiplied.
 *
 * A matrix kernel that is made while a program runs may use the stack pointer as
 * a register like any other (oneDNN's do, for lack of registers): a signal that
 * came then would write its frame into the middle of the heap. So handlers run
 * on a stack of their own. The calling thread's, that is: other threads must
 * block the signal. */
#ifndef ATTN_BASE_SIGNALS_H
#define ATTN_BASE_SIGNALS_H

#include <stdbool.h>

/* once: the next signal of this number has its default effect. */
void signals_catch(int number, void (*handler)(int), bool once);

#endif
