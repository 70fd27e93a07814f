// What a request asks of the stub engine, by its path and by its own fields.
#ifndef KVASIR_BENCH_STUB_REQUESTS_H
#define KVASIR_BENCH_STUB_REQUESTS_H

#include "http_reader.h"
#include "stub_replies.h"

enum route {
  ROUTE_NONE,
  ROUTE_HEALTH,
  ROUTE_MODELS,
  ROUTE_METRICS,
  ROUTE_STATS,
  ROUTE_TOKENIZE,
  ROUTE_COMPLETION
};

// Reads a head; the completion has the given pace where the request names none.
enum route request_read(const struct http_reader *reader, const struct pace *otherwise,
                        struct completion *completion);

#endif
