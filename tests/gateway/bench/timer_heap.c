#include "timer_heap.h"

#include <stdlib.h>

#include "bench_io.h"

static void put(struct timer_heap *heap, size_t place, struct timer *timer) {
  heap->timers[place] = timer;
  timer->place = place;
}

static void move_up(struct timer_heap *heap, size_t place, struct timer *timer) {
  while (place > 1 && heap->timers[place / 2]->due_ns > timer->due_ns) {
    put(heap, place, heap->timers[place / 2]);
    place /= 2;
  }
  put(heap, place, timer);
}

static void move_down(struct timer_heap *heap, size_t place, struct timer *timer) {
  for (;;) {
    size_t child = 2 * place;
    if (child > heap->count) {
      break;
    }
    if (child < heap->count && heap->timers[child + 1]->due_ns < heap->timers[child]->due_ns) {
      child++;
    }
    if (heap->timers[child]->due_ns >= timer->due_ns) {
      break;
    }
    put(heap, place, heap->timers[child]);
    place = child;
  }
  put(heap, place, timer);
}

void timer_set(struct timer_heap *heap, struct timer *timer, int64_t due_ns) {
  timer_cancel(heap, timer);
  timer->due_ns = due_ns;
  if (heap->count + 1 >= heap->capacity) {
    heap->capacity = heap->capacity == 0 ? 64 : 2 * heap->capacity;
    heap->timers = realloc(heap->timers, heap->capacity * sizeof *heap->timers);
    if (heap->timers == NULL) {
      fail("out of memory");
    }
  }
  heap->count++;
  move_up(heap, heap->count, timer);
}

void timer_cancel(struct timer_heap *heap, struct timer *timer) {
  size_t place = timer->place;
  if (place == 0) {
    return;
  }
  timer->place = 0;
  struct timer *last = heap->timers[heap->count--];
  if (last == timer) {
    return;
  }
  if (place > 1 && heap->timers[place / 2]->due_ns > last->due_ns) {
    move_up(heap, place, last);
  } else {
    move_down(heap, place, last);
  }
}

struct timer *timer_first(const struct timer_heap *heap) {
  return heap->count == 0 ? NULL : heap->timers[1];
}
