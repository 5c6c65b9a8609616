/* A list. */
#include <stdio.h>
#include <sys/types.h>
#include "list.h"
#include "../common/memory.h"

#ifndef LIST_C
#define LIST_C

#define LIST_MAX 64
/* The smaller of two. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))

struct node;

// One element.
struct node {
    struct node *next;
    int value;
};

typedef struct {
    struct node *head;
    size_t length;
} list_t;

typedef struct pair { int a, b; } pair_t;
typedef unsigned int count_t;
typedef int (*compare_fn)(const void *, const void *);

enum color { RED, GREEN };

union number {
    int i;
    float f;
};

static int counter = 0;
extern const char *names[];
int total, limit = LIST_MAX;
char *title = "list";

/* Makes a list. */
list_t *list_new(size_t length);
static void helper(struct node *node);

/**
 * Makes a list.
 */
list_t *list_new(size_t length)
{
    list_t *list = memory_allocate(sizeof(list_t));
    int local = MIN(length, LIST_MAX);
    int prototype(int);
    list->length = local;
    return list;
}

int list_walk(list_t *list, compare_fn compare)
{
    for (struct node *node = list->head; node; node = node->next) {
        helper(node);
        if (compare(node, list->head)) {
            list->callbacks.found(node);
        }
    }
    printf("%d\n", counter);
    return 0;
}

static void helper(struct node *node)
{
    (void)node;
}

static inline char **table(void) { return 0; }

#endif
