#include "stub_requests.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHUNKS = 1000000 };

static bool begins(const struct http_reader *reader, const char *line) {
  return reader->head_size > strlen(line) && strncmp(reader->head, line, strlen(line)) == 0;
}

static double number_field(const struct http_reader *reader, const char *name, double otherwise) {
  size_t size;
  const char *value = http_field(reader, name, &size);
  double number = value == NULL ? otherwise : strtod(value, NULL);
  return number >= 0 && number < 1e9 ? number : otherwise;
}

static enum route route_of(const struct http_reader *reader) {
  return begins(reader, "POST /v1/chat/completions ") || begins(reader, "POST /v1/completions ")
             ? ROUTE_COMPLETION
         : begins(reader, "GET /health ")     ? ROUTE_HEALTH
         : begins(reader, "GET /v1/models ")  ? ROUTE_MODELS
         : begins(reader, "GET /metrics ")    ? ROUTE_METRICS
         : begins(reader, "GET /stub/stats ") ? ROUTE_STATS
         : begins(reader, "POST /tokenize ")  ? ROUTE_TOKENIZE
                                              : ROUTE_NONE;
}

enum route request_read(const struct http_reader *reader, const struct pace *otherwise,
                        struct completion *completion) {
  memset(completion, 0, sizeof *completion);
  completion->chat = begins(reader, "POST /v1/chat/completions ");
  double chunks = number_field(reader, "x-stub-chunks", otherwise->chunks);
  completion->pace.chunks = chunks < 1 ? 1 : chunks > MAX_CHUNKS ? MAX_CHUNKS : (int)chunks;
  completion->pace.first_ns =
      (int64_t)(NS_PER_MS *
                number_field(reader, "x-stub-first-ms", (double)otherwise->first_ns / NS_PER_MS));
  completion->pace.interval_ns =
      (int64_t)(NS_PER_MS * number_field(reader, "x-stub-interval-ms",
                                         (double)otherwise->interval_ns / NS_PER_MS));
  return route_of(reader);
}
