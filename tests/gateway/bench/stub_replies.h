// What the stub engine answers: OpenAI's formats, with the time at which each chunk was written.
#ifndef KVASIR_BENCH_STUB_REPLIES_H
#define KVASIR_BENCH_STUB_REPLIES_H

#include "bench_io.h"

enum { MAX_NAME = 64 };

// How many chunks a stream has and when they are written.
struct pace {
  int chunks;
  int64_t first_ns;
  int64_t interval_ns;
};

// A completion that is being answered.
struct completion {
  char name[MAX_NAME];  // the request's user, part of all ids of the answer
  bool chat;
  bool stream;
  bool include_usage;
  bool hands_over;  // the prompt's blocks to another worker
  struct pace pace;
  int64_t read_ns;  // when the request had been read
  int written;      // chunks
};

// Numbers since the start.
struct stub_stats {
  uint64_t requests;
  uint64_t streams;
  uint64_t chunks;
  uint64_t disconnects;  // of clients whose answers were not finished
  uint64_t connections;
  int open_connections;
  int running;
};

// Reads what the body says about the answer.
void completion_read_body(struct completion *completion, const char *body, size_t size);

void reply_json(struct buffer *out, int status, const char *json);
void reply_text(struct buffer *out, const char *text);
void reply_models(struct buffer *out, const char *model);
void reply_stats(struct buffer *out, const struct stub_stats *stats);
void reply_metrics(struct buffer *out, const struct stub_stats *stats);
// As many tokens as asked for, always from the same sequence.
void reply_tokens(struct buffer *out, size_t count);
void reply_completion(struct buffer *out, const struct completion *completion, const char *model);

void stream_head(struct buffer *out);
void stream_chunk(struct buffer *out, struct completion *completion, const char *model);
void stream_end(struct buffer *out, const struct completion *completion, const char *model);

#endif
