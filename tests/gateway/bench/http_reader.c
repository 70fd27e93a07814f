#define _GNU_SOURCE
#include "http_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_HEAD = 65536, MAX_LINE = 1024 };

enum state { AT_HEAD, IN_BODY, AT_CHUNK_SIZE, IN_CHUNK, AT_CHUNK_END, AT_TRAILER };

bool http_idle(const struct http_reader *reader) { return reader->state == AT_HEAD; }

const char *http_field(const struct http_reader *reader, const char *name, size_t *size) {
  size_t name_size = strlen(name);
  const char *end = reader->head + reader->head_size;
  const char *line = memmem(reader->head, reader->head_size, "\r\n", 2);
  while (line != NULL && line + 2 < end) {
    line += 2;
    const char *next = memmem(line, (size_t)(end - line), "\r\n", 2);
    if (next == NULL) {
      return NULL;
    }
    if ((size_t)(next - line) > name_size && line[name_size] == ':' &&
        strncasecmp(line, name, name_size) == 0) {
      const char *value = line + name_size + 1;
      while (value < next && (*value == ' ' || *value == '\t')) {
        value++;
      }
      const char *last = next;
      while (last > value && isspace((unsigned char)last[-1])) {
        last--;
      }
      *size = (size_t)(last - value);
      return value;
    }
    line = next;
  }
  return NULL;
}

static bool field_is(const struct http_reader *reader, const char *name, const char *value) {
  size_t size;
  const char *found = http_field(reader, name, &size);
  return found != NULL && size == strlen(value) && strncasecmp(found, value, size) == 0;
}

// Reads how the body is delimited; false if that is unclear.
static bool read_delimiters(struct http_reader *reader) {
  size_t size;
  reader->closes = field_is(reader, "connection", "close");
  reader->until_close = false;
  reader->remaining = 0;
  const char *length = http_field(reader, "content-length", &size);
  if (http_field(reader, "transfer-encoding", &size) != NULL) {
    reader->state = AT_CHUNK_SIZE;
    return length == NULL && field_is(reader, "transfer-encoding", "chunked");
  }
  reader->state = IN_BODY;
  if (length != NULL) {
    char *end;
    reader->remaining = strtoull(length, &end, 10);
    return isdigit((unsigned char)*length) && (*end == '\r' || *end == ' ');
  }
  if (reader->response && reader->status != 204 && reader->status != 304) {
    reader->until_close = true;
    reader->closes = true;
  }
  return true;
}

static enum http_step read_head(struct http_reader *reader, struct buffer *in) {
  const char *bytes = buffer_bytes(in);
  size_t size = buffer_size(in);
  const char *end = size == 0 ? NULL : memmem(bytes, size, "\r\n\r\n", 4);
  if (end == NULL) {
    return size > MAX_HEAD ? HTTP_WRONG : HTTP_MORE;
  }
  reader->head = bytes;
  reader->head_size = (size_t)(end - bytes) + 4;
  reader->status = 0;
  if (reader->response) {
    if (reader->head_size < 13 || strncmp(bytes, "HTTP/1.1 ", 9) != 0) {
      return HTTP_WRONG;
    }
    reader->status = atoi(bytes + 9);
  }
  if (!read_delimiters(reader)) {
    return HTTP_WRONG;
  }
  buffer_consume(in, reader->head_size);
  return HTTP_HEAD;
}

// The next line of the buffer, without its end; NULL if there is none yet.
static const char *next_line(struct buffer *in, size_t *size) {
  const char *bytes = buffer_bytes(in);
  const char *end = buffer_size(in) == 0 ? NULL : memmem(bytes, buffer_size(in), "\r\n", 2);
  if (end == NULL) {
    return NULL;
  }
  *size = (size_t)(end - bytes);
  buffer_consume(in, *size + 2);
  return bytes;
}

static enum http_step take_piece(struct http_reader *reader, struct buffer *in) {
  size_t size = buffer_size(in);
  if (size == 0) {
    return HTTP_MORE;
  }
  if (!reader->until_close) {
    size = size < reader->remaining ? size : (size_t)reader->remaining;
    reader->remaining -= size;
  }
  reader->piece = buffer_bytes(in);
  reader->piece_size = size;
  buffer_consume(in, size);
  return HTTP_PIECE;
}

static enum http_step finish(struct http_reader *reader) {
  reader->state = AT_HEAD;
  return HTTP_END;
}

enum http_step http_next(struct http_reader *reader, struct buffer *in) {
  for (;;) {
    size_t size;
    const char *line;
    switch (reader->state) {
      case AT_HEAD:
        return read_head(reader, in);
      case IN_BODY:
        if (reader->remaining == 0 && !reader->until_close) {
          return finish(reader);
        }
        return take_piece(reader, in);
      case AT_CHUNK_SIZE:
        line = next_line(in, &size);
        if (line == NULL) {
          return buffer_size(in) > MAX_LINE ? HTTP_WRONG : HTTP_MORE;
        }
        if (!isxdigit((unsigned char)*line)) {
          return HTTP_WRONG;
        }
        reader->remaining = strtoull(line, NULL, 16);
        reader->state = reader->remaining == 0 ? AT_TRAILER : IN_CHUNK;
        break;
      case IN_CHUNK:
        if (reader->remaining > 0) {
          return take_piece(reader, in);
        }
        reader->state = AT_CHUNK_END;
        break;
      case AT_CHUNK_END:
        if (buffer_size(in) < 2) {
          return HTTP_MORE;
        }
        if (memcmp(buffer_bytes(in), "\r\n", 2) != 0) {
          return HTTP_WRONG;
        }
        buffer_consume(in, 2);
        reader->state = AT_CHUNK_SIZE;
        break;
      default:
        line = next_line(in, &size);
        if (line == NULL) {
          return buffer_size(in) > MAX_LINE ? HTTP_WRONG : HTTP_MORE;
        }
        if (size == 0) {
          return finish(reader);
        }
    }
  }
}
