// Timers ordered by the time at which they are due.
#ifndef KVASIR_BENCH_TIMER_HEAP_H
#define KVASIR_BENCH_TIMER_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct timer {
  int64_t due_ns;
  size_t place;  // in the heap, from 1; 0 if it is not set
  void *owner;
};

struct timer_heap {
  struct timer **timers;
  size_t count;
  size_t capacity;
};

// Sets a timer, or sets it anew.
void timer_set(struct timer_heap *heap, struct timer *timer, int64_t due_ns);

// Nothing happens if it is not set.
void timer_cancel(struct timer_heap *heap, struct timer *timer);

// The timer that is due first; NULL if none is set.
struct timer *timer_first(const struct timer_heap *heap);

#endif
