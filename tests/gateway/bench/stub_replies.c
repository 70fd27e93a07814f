#define _GNU_SOURCE
#include "stub_replies.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENT = 1024, MAX_HEAD = 256, CREATED = 1700000000, PROMPT_TOKENS = 100 };

// ---- requests
// ------------------------------------------------------------------------------------

// The value of a key, given with its quotation marks; NULL if there is none. Quotation marks within
// texts are escaped, so that a part of a text is not taken for a key.
static const char *json_value(const char *body, const char *end, const char *key) {
  for (;;) {
    const char *value = memmem(body, (size_t)(end - body), key, strlen(key));
    if (value == NULL) {
      return NULL;
    }
    value += strlen(key);
    bool colon = false;
    while (value < end && (isspace((unsigned char)*value) || (*value == ':' && !colon))) {
      colon = colon || *value == ':';
      value++;
    }
    if (colon) {
      return value;
    }
    body = value;
  }
}

static bool json_true(const char *body, const char *end, const char *key) {
  const char *value = json_value(body, end, key);
  return value != NULL && end - value >= 4 && memcmp(value, "true", 4) == 0;
}

void completion_read_body(struct completion *completion, const char *body, size_t size) {
  const char *end = body + size;
  completion->stream = json_true(body, end, "\"stream\"");
  completion->include_usage = json_true(body, end, "\"include_usage\"");
  completion->hands_over = json_true(body, end, "\"do_remote_decode\"");
  const char *name = json_value(body, end, "\"user\"");
  if (name == NULL || name == end || *name != '"') {
    return;
  }
  size_t length = 0;
  for (name++; name < end && *name != '"' && length < MAX_NAME - 1; name++) {
    completion->name[length++] = *name;
  }
  completion->name[length] = '\0';
}

// ---- whole answers
// -------------------------------------------------------------------------------

static void reply(struct buffer *out, int status, const char *type, const char *body) {
  char head[MAX_HEAD];
  size_t size = strlen(body);
  const char *reason = status == 200 ? "OK" : status == 404 ? "Not Found" : "Bad Request";
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 %d %s\r\nserver: stub-engine\r\ncontent-type: %s\r\n"
                        "content-length: %zu\r\n\r\n",
                        status, reason, type, size);
  buffer_append(out, head, (size_t)length);
  buffer_append(out, body, size);
}

void reply_json(struct buffer *out, int status, const char *json) {
  reply(out, status, "application/json", json);
}

void reply_text(struct buffer *out, const char *text) {
  reply(out, 200, "text/plain; version=0.0.4; charset=utf-8", text);
}

void reply_models(struct buffer *out, const char *model) {
  char json[MAX_EVENT];
  snprintf(json, sizeof json,
           "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":%d,"
           "\"owned_by\":\"stub\",\"root\":\"%s\",\"parent\":null,\"max_model_len\":131072}]}",
           model, CREATED, model);
  reply_json(out, 200, json);
}

void reply_stats(struct buffer *out, const struct stub_stats *stats) {
  char json[MAX_EVENT];
  snprintf(json, sizeof json,
           "{\"requests\":%llu,\"streams\":%llu,\"chunks\":%llu,\"disconnects\":%llu,"
           "\"connections\":%llu,\"open_connections\":%d,\"running\":%d}",
           (unsigned long long)stats->requests, (unsigned long long)stats->streams,
           (unsigned long long)stats->chunks, (unsigned long long)stats->disconnects,
           (unsigned long long)stats->connections, stats->open_connections, stats->running);
  reply_json(out, 200, json);
}

void reply_metrics(struct buffer *out, const struct stub_stats *stats) {
  char text[MAX_EVENT];
  snprintf(text, sizeof text,
           "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running %d\n"
           "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 0\n"
           "# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total %llu\n",
           stats->running, (unsigned long long)stats->chunks);
  reply_text(out, text);
}

void reply_tokens(struct buffer *out, size_t count) {
  enum { TOKENS = 100000, MAX_DIGITS = 6 };
  size_t room = count * (MAX_DIGITS + 1) + MAX_HEAD;
  char *json = malloc(room);
  if (json == NULL) {
    fail("out of memory");
  }
  int size = snprintf(json, room, "{\"count\":%zu,\"max_model_len\":131072,\"tokens\":[", count);
  for (size_t i = 0; i < count; i++) {
    size += snprintf(json + size, room - (size_t)size, "%s%zu", i == 0 ? "" : ",", i % TOKENS);
  }
  snprintf(json + size, room - (size_t)size, "]}");
  reply_json(out, 200, json);
  free(json);
}

static void usage_text(char *text, size_t size, const struct completion *completion) {
  snprintf(text, size,
           "\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}",
           PROMPT_TOKENS, completion->pace.chunks, PROMPT_TOKENS + completion->pace.chunks);
}

void reply_completion(struct buffer *out, const struct completion *completion, const char *model) {
  char json[MAX_EVENT];
  char usage[MAX_HEAD];
  usage_text(usage, sizeof usage, completion);
  const char *format =
      completion->chat
          ? "{\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion\",\"created\":%d,"
            "\"model\":\"%s\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
            "\"content\":\"stub\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],%s%s}"
          : "{\"id\":\"cmpl-%s\",\"object\":\"text_completion\",\"created\":%d,"
            "\"model\":\"%s\",\"choices\":[{\"index\":0,\"text\":\"stub\",\"logprobs\":null,"
            "\"finish_reason\":\"stop\"}],%s%s}";
  const char *transfer =
      completion->hands_over
          ? ",\"kv_transfer_params\":{\"do_remote_prefill\":true,\"do_remote_decode\":false,"
            "\"remote_block_ids\":[[1,2,3,4,5,6,7]],\"remote_engine_id\":\"stub\","
            "\"remote_request_id\":\"stub-1\",\"remote_host\":\"127.0.0.1\","
            "\"remote_port\":5600,\"tp_size\":1}"
          : "";
  snprintf(json, sizeof json, format, completion->name, CREATED, model, usage, transfer);
  reply_json(out, 200, json);
}

// ---- streams
// -------------------------------------------------------------------------------------

void stream_head(struct buffer *out) {
  static const char head[] =
      "HTTP/1.1 200 OK\r\nserver: stub-engine\r\ncache-control: no-cache\r\n"
      "content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
  buffer_append(out, head, sizeof head - 1);
}

// An event as a chunk of HTTP.
static void add_event(struct buffer *out, const char *event, int size) {
  char length[16];
  int digits = snprintf(length, sizeof length, "%x\r\n", (unsigned)size);
  buffer_append(out, length, (size_t)digits);
  buffer_append(out, event, (size_t)size);
  buffer_append(out, "\r\n", 2);
}

// The beginning of an event, up to its choices.
static int event_head(char *event, const struct completion *completion, const char *model) {
  return snprintf(
      event, MAX_EVENT,
      "data: {\"id\":\"%s-%s\",\"object\":\"%s\",\"created\":%d,\"model\":\"%s\",\"t\":%lld,",
      completion->chat ? "chatcmpl" : "cmpl", completion->name,
      completion->chat ? "chat.completion.chunk" : "text_completion", CREATED, model,
      (long long)now_ns());
}

void stream_chunk(struct buffer *out, struct completion *completion, const char *model) {
  char event[MAX_EVENT];
  int size = event_head(event, completion, model);
  if (completion->written == 0) {
    size += snprintf(event + size, MAX_EVENT - (size_t)size, "\"took\":%lld,",
                     (long long)(now_ns() - completion->read_ns));
  }
  const char *format = completion->chat
                           ? "\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                             "\" word%d\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
                           : "\"choices\":[{\"index\":0,\"text\":"
                             "\" word%d\",\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  size += snprintf(event + size, MAX_EVENT - (size_t)size, format, completion->written);
  completion->written++;
  add_event(out, event, size);
}

void stream_end(struct buffer *out, const struct completion *completion, const char *model) {
  char event[MAX_EVENT];
  char usage[MAX_HEAD];
  int size = event_head(event, completion, model);
  size += snprintf(event + size, MAX_EVENT - (size_t)size,
                   "\"choices\":[{\"index\":0,%s,\"logprobs\":null,\"finish_reason\":"
                   "\"stop\"}]}\n\n",
                   completion->chat ? "\"delta\":{}" : "\"text\":\"\"");
  add_event(out, event, size);
  if (completion->include_usage) {
    usage_text(usage, sizeof usage, completion);
    size = event_head(event, completion, model);
    size += snprintf(event + size, MAX_EVENT - (size_t)size, "\"choices\":[],%s}\n\n", usage);
    add_event(out, event, size);
  }
  static const char done[] = "data: [DONE]\n\n";
  add_event(out, done, sizeof done - 1);
  buffer_append(out, "0\r\n\r\n", 5);
}
