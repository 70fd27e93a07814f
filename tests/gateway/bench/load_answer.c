#define _GNU_SOURCE
#include "load_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_begin(struct answer *answer, bool stream, const char *id, int chunks) {
  struct buffer text = answer->text;
  buffer_clear(&text);
  memset(answer, 0, sizeof *answer);
  answer->text = text;
  answer->stream = stream;
  answer->chunks = chunks;
  snprintf(answer->id, sizeof answer->id, "\"chatcmpl-%s\"", id);
}

static enum error_kind wrong(struct report *report, enum error_kind kind, const char *text,
                             size_t size) {
  report_error(report, kind, text, size);
  return kind;
}

static bool contains(const char *text, size_t size, const char *part) {
  return memmem(text, size, part, strlen(part)) != NULL;
}

// The number after a key; false if there is none.
static bool number_after(const char *text, size_t size, const char *key, int64_t *number) {
  const char *found = memmem(text, size, key, strlen(key));
  if (found == NULL || found + strlen(key) >= text + size) {
    return false;
  }
  char *end;
  const char *digits = found + strlen(key);
  *number = strtoll(digits, &end, 10);  // ends within the text, which ends with a line's end
  return end > digits;
}

enum error_kind answer_head(struct answer *answer, const struct http_reader *reader,
                            struct report *report) {
  if (reader->status != 200) {
    return wrong(report, ERROR_STATUS, reader->head, reader->head_size);
  }
  size_t size;
  const char *type = http_field(reader, "content-type", &size);
  const char *expected = answer->stream ? "text/event-stream" : "application/json";
  if (type == NULL || !contains(type, size, expected)) {
    return wrong(report, ERROR_CONTENT, reader->head, reader->head_size);
  }
  return ERROR_NONE;
}

static enum error_kind on_chunk(struct answer *answer, const char *event, size_t size, int64_t now,
                                struct report *report) {
  int64_t written;
  int64_t word;
  if (!number_after(event, size, "\"t\":", &written) ||
      !number_after(event, size, "\"content\":\" word", &word) || word != answer->received) {
    return wrong(report, ERROR_CONTENT, event, size);
  }
  bool measures = report_measures(report, now);
  if (answer->received == 0) {
    int64_t took;
    if (!number_after(event, size, "\"took\":", &took)) {
      return wrong(report, ERROR_CONTENT, event, size);
    }
    if (measures) {
      samples_add(&report->first_byte, now - answer->sent_ns - took);
    }
  }
  answer->received++;
  report->all_chunks++;
  if (measures) {
    report->chunks++;
    samples_add(&report->chunk, now - written);
  }
  return ERROR_NONE;
}

static enum error_kind on_event(struct answer *answer, const char *event, size_t size, int64_t now,
                                struct report *report) {
  if (size > 0 && event[0] == ':') {
    return ERROR_NONE;  // a comment
  }
  if (answer->done || size < 6 || memcmp(event, "data: ", 6) != 0) {
    return wrong(report, ERROR_CONTENT, event, size);
  }
  if (size == 12 && memcmp(event, "data: [DONE]", 12) == 0) {
    answer->done = true;
    return ERROR_NONE;
  }
  if (!contains(event, size, answer->id)) {
    return wrong(report, ERROR_CONTENT, event, size);
  }
  if (contains(event, size, "\"usage\":{")) {
    answer->usage = true;
    return ERROR_NONE;
  }
  if (contains(event, size, "\"finish_reason\":\"stop\"")) {
    answer->finished = true;
    return ERROR_NONE;
  }
  return on_chunk(answer, event, size, now, report);
}

enum error_kind answer_piece(struct answer *answer, const char *bytes, size_t size, int64_t now,
                             struct report *report) {
  struct buffer *text = &answer->text;
  buffer_append(text, bytes, size);
  while (answer->stream && buffer_size(text) > 0) {
    const char *event = buffer_bytes(text);
    const char *end = memmem(event, buffer_size(text), "\n\n", 2);
    if (end == NULL) {
      break;
    }
    enum error_kind error = on_event(answer, event, (size_t)(end - event), now, report);
    if (error != ERROR_NONE) {
      return error;
    }
    buffer_consume(text, (size_t)(end - event) + 2);
  }
  return ERROR_NONE;
}

static enum error_kind check_end(struct answer *answer, struct report *report) {
  struct buffer *text = &answer->text;
  if (!answer->stream) {
    int64_t tokens;
    buffer_append(text, "\n", 1);
    if (!contains(buffer_bytes(text), buffer_size(text), answer->id) ||
        !number_after(buffer_bytes(text), buffer_size(text), "\"completion_tokens\":", &tokens) ||
        tokens != answer->chunks) {
      return wrong(report, ERROR_CONTENT, buffer_bytes(text), buffer_size(text));
    }
    return ERROR_NONE;
  }
  char detail[128];
  int size =
      snprintf(detail, sizeof detail, "%d of %d chunks, finish %d, usage %d, [DONE] %d",
               answer->received, answer->chunks, answer->finished, answer->usage, answer->done);
  if (answer->received != answer->chunks) {
    return wrong(report, ERROR_CHUNKS, detail, (size_t)size);
  }
  if (!answer->finished || !answer->usage || !answer->done || buffer_size(text) > 0) {
    return wrong(report, ERROR_END, detail, (size_t)size);
  }
  return ERROR_NONE;
}

enum error_kind answer_end(struct answer *answer, int64_t now, struct report *report) {
  enum error_kind error = check_end(answer, report);
  if (error != ERROR_NONE) {
    return error;
  }
  report->all_requests++;
  if (report_measures(report, now)) {
    report->requests++;
    samples_add(&report->request, now - answer->sent_ns);
  }
  return ERROR_NONE;
}
