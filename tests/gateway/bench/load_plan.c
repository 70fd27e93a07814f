#define _GNU_SOURCE
#include "load_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PART = 1024 };

static const double IDLE_INTERVAL_MS = 3600e3;

struct plan plan = {.seconds = 5,
                    .warmup = 1,
                    .streams = 256,
                    .connections = 64,
                    .chunks = 10,
                    .interval_ms = -1,
                    .first_ms = -1,
                    .prompt_bytes = 512,
                    .timeout_seconds = 10,
                    .model = "stub-model"};

static char *prompt;

static void derive(const char *mode) {
  bool counts = strcmp(mode, "count") == 0;
  bool streams = strcmp(mode, "streams") == 0;
  plan.holds = strcmp(mode, "idle") == 0;
  plan.ends_at_error = counts;
  if (!counts && !streams && !plan.holds && strcmp(mode, "saturate") != 0) {
    fail("the mode must be streams, saturate, count or idle, not '%s'", mode);
  }
  if (counts && plan.requests < 1) {
    fail("count needs --requests");
  }
  if (!counts) {
    plan.stream_every = streams || plan.holds;
    plan.requests = plan.burst = 0;
  }
  if (plan.interval_ms < 0 || (!streams && !counts)) {
    plan.interval_ms = streams ? 20 : 0;
  }
  if (plan.holds) {
    plan.chunks = 2;
    plan.interval_ms = IDLE_INTERVAL_MS;
    plan.first_ms = 0;
  } else if (!streams) {
    plan.first_ms = 0;
  } else if (plan.first_ms < 0) {
    // Then a client that starts again at once gets chunks at an even pace.
    plan.first_ms = plan.interval_ms;
  }
  plan.clients = (int)(streams || plan.holds ? plan.streams : plan.connections);
  if (plan.clients < 1 || plan.chunks < 1 || plan.port < 1) {
    fail("--port, --chunks and --streams or --connections must be positive");
  }
  double stream_ms = plan.first_ms + (plan.chunks - 1) * plan.interval_ms;
  plan.stagger_ns = streams ? (int64_t)(stream_ms * NS_PER_MS / plan.clients) : 0;
  if (!plan.holds) {
    plan.timeout_seconds += stream_ms / 1e3;
  }
}

static void write_prompt(void) {
  static const char words[] = "the quick brown fox jumps over the lazy dog ";
  prompt = malloc((size_t)plan.prompt_bytes + 1);
  if (prompt == NULL) {
    fail("out of memory");
  }
  for (size_t i = 0; i < (size_t)plan.prompt_bytes; i++) {
    prompt[i] = words[i % (sizeof words - 1)];
  }
}

void plan_read(int argc, char **argv) {
  const struct option_spec options[] = {{"port", &plan.port, NULL},
                                        {"seconds", &plan.seconds, NULL},
                                        {"warmup", &plan.warmup, NULL},
                                        {"streams", &plan.streams, NULL},
                                        {"connections", &plan.connections, NULL},
                                        {"chunks", &plan.chunks, NULL},
                                        {"interval-ms", &plan.interval_ms, NULL},
                                        {"first-ms", &plan.first_ms, NULL},
                                        {"requests", &plan.requests, NULL},
                                        {"burst", &plan.burst, NULL},
                                        {"pause-ms", &plan.pause_ms, NULL},
                                        {"stream-every", &plan.stream_every, NULL},
                                        {"prompt-bytes", &plan.prompt_bytes, NULL},
                                        {"new-prompts", &plan.new_prompts, NULL},
                                        {"timeout-seconds", &plan.timeout_seconds, NULL},
                                        {"model", NULL, &plan.model},
                                        {NULL, NULL, NULL}};
  if (argc < 2) {
    fail("usage: load_generator streams|saturate|count|idle --port PORT [OPTIONS]");
  }
  parse_options(argc, argv, 2, options);
  derive(argv[1]);
  write_prompt();
}

void plan_write_request(struct buffer *out, bool stream, const char *name) {
  char head[MAX_PART];
  char begin[MAX_PART];
  char end[MAX_PART];
  int begin_size =
      snprintf(begin, sizeof begin,
               "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"", plan.model);
  int end_size =
      snprintf(end, sizeof end, "\"}],\"user\":\"%s\",\"max_tokens\":%d%s}", name, (int)plan.chunks,
               stream ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "");
  int head_size = snprintf(
      head, sizeof head,
      "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:%d\r\nuser-agent: load-generator\r\n"
      "accept: */*\r\ncontent-type: application/json\r\nx-stub-chunks: %d\r\n"
      "x-stub-interval-ms: %.3f\r\nx-stub-first-ms: %.3f\r\ncontent-length: %d\r\n\r\n",
      (int)plan.port, (int)plan.chunks, plan.interval_ms, plan.first_ms,
      begin_size + (int)plan.prompt_bytes + end_size);
  buffer_append(out, head, (size_t)head_size);
  buffer_append(out, begin, (size_t)begin_size);
  size_t prompt_size = (size_t)plan.prompt_bytes;
  size_t own = plan.new_prompts != 0 ? strnlen(name, prompt_size) : 0;
  buffer_append(out, name, own);
  buffer_append(out, prompt + own, prompt_size - own);
  buffer_append(out, end, (size_t)end_size);
}
