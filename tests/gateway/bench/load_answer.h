// An answer of the stub engine while it is read: every byte must be what the engine wrote.
#ifndef KVASIR_BENCH_LOAD_ANSWER_H
#define KVASIR_BENCH_LOAD_ANSWER_H

#include "http_reader.h"
#include "load_report.h"

struct answer {
  bool stream;
  char id[64];      // that every part must have
  int chunks;       // expected
  int64_t sent_ns;  // when the request was written
  int received;     // chunks
  bool finished;
  bool usage;
  bool done;
  struct buffer text;  // of the answer, or of the events that are not complete
};

// Before each answer. The id is that of the request's user.
void answer_begin(struct answer *answer, bool stream, const char *id, int chunks);

// Each step of an answer is counted in the report, and is an error if it is wrong; the error's
// detail is then in the report already.
enum error_kind answer_head(struct answer *answer, const struct http_reader *reader,
                            struct report *report);
enum error_kind answer_piece(struct answer *answer, const char *bytes, size_t size, int64_t now,
                             struct report *report);
enum error_kind answer_end(struct answer *answer, int64_t now, struct report *report);

#endif
