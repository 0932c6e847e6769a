/* A NAME key of the configuration looked up in a plug-in table. */
#ifndef ATTN_NN_CHOICE_H
#define ATTN_NN_CHOICE_H

struct config;

enum { CHOICES = 64, CHOICE_BYTES = 256 };

struct choice {
    const char *names[CHOICES]; /* main names and aliases */
    int entry[CHOICES];         /* which row of the table each means */
    int count, entries;
    char alias[CHOICE_BYTES]; /* memory of the aliases */
    int used;
};

void choice_init(struct choice *c);

/* The next row of the table; aliases may be NULL, else are between blanks. */
void choice_add(struct choice *c, const char *name, const char *aliases);

/* The row that the value of the key means, or -1 after reporting. */
int choice_of(const struct choice *c, const struct config *cfg,
              const char *key);

/* For help: which names a key may have. Row i of a table, NULL behind the
 * last; or a fixed text. */
struct choice_table {
    const char *key; /* NULL: the end */
    const char *(*row)(int i);
    const char *fixed;
};

/* The names with ", " between them, or NULL; of the thread's until its next
 * call. */
const char *choice_text(const struct choice_table *tables, const char *key);

#endif
