// What the load generator measured, and its report.
#ifndef KVASIR_BENCH_LOAD_REPORT_H
#define KVASIR_BENCH_LOAD_REPORT_H

#include "bench_io.h"

enum error_kind {
  ERROR_NONE,
  ERROR_CONNECT,  // no connection
  ERROR_CLOSED,   // the connection ended within an answer
  ERROR_TIMEOUT,  // nothing came for too long
  ERROR_HTTP,     // not HTTP
  ERROR_STATUS,   // another status than 200
  ERROR_CONTENT,  // another text than the engine wrote, or one of another request
  ERROR_CHUNKS,   // too few or too many chunks
  ERROR_END,      // no finish chunk, no usage or no [DONE]
  ERROR_KINDS
};

struct samples {
  int64_t *ns;
  size_t count;
  size_t capacity;
};

struct report {
  const char *mode;
  int64_t from_ns;  // the window that is measured
  int64_t to_ns;
  uint64_t requests;  // ended in the window
  uint64_t chunks;    // received in the window
  uint64_t all_requests;
  uint64_t all_chunks;
  struct samples first_byte;  // from request to first chunk, without the engine's own time
  struct samples chunk;       // from the engine's write to here
  struct samples request;     // from request to the end of the answer
  uint64_t errors[ERROR_KINDS];
  char first_error[512];
};

static inline bool report_measures(const struct report *report, int64_t now) {
  return now >= report->from_ns && now < report->to_ns;
}

void samples_add(struct samples *samples, int64_t ns);
void report_error(struct report *report, enum error_kind kind, const char *detail, size_t size);
uint64_t report_failed(const struct report *report);

// Prints one line of JSON; sorts the samples.
void report_print(struct report *report, int64_t now);

#endif
