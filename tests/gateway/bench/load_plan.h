// What the load generator is to do: its options, and the requests that it sends.
#ifndef KVASIR_BENCH_LOAD_PLAN_H
#define KVASIR_BENCH_LOAD_PLAN_H

#include "bench_io.h"

struct plan {
  double port;
  double seconds;  // that are measured
  double warmup;   // seconds before them
  double streams;
  double connections;
  double chunks;  // of a stream
  double interval_ms;
  double first_ms;
  double requests;  // 0 for any number
  double burst;     // requests between two pauses; 0 for no pauses
  double pause_ms;
  double stream_every;  // 1: all requests are streams, 0: none
  double prompt_bytes;
  double new_prompts;      // 1: each prompt begins with its request's name, 0: all are equal
  double timeout_seconds;  // between two parts of an answer
  const char *model;
  // What follows from the mode.
  int clients;
  bool holds;  // streams stay open
  bool ends_at_error;
  int64_t stagger_ns;  // between the first requests of two clients
};

extern struct plan plan;

// Reads the mode and the options.
void plan_read(int argc, char **argv);

// Appends a request whose answer has this name in its ids.
void plan_write_request(struct buffer *out, bool stream, const char *name);

#endif
