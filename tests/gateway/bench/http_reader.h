// Reads HTTP/1.1 messages, requests and responses, from a buffer that fills bit by bit.
#ifndef KVASIR_BENCH_HTTP_READER_H
#define KVASIR_BENCH_HTTP_READER_H

#include "bench_io.h"

enum http_step {
  HTTP_MORE,   // needs more bytes
  HTTP_HEAD,   // the head was read: its fields are valid until the next call
  HTTP_PIECE,  // a piece of the body was read: it is valid until the buffer changes
  HTTP_END,    // the message is over; the next call begins the next one
  HTTP_WRONG   // not HTTP
};

// A message that is being read. All zeros is the state before the first message.
struct http_reader {
  int state;
  bool response;       // set by the owner
  int status;          // of a response
  const char *head;    // first line and fields, at HTTP_HEAD
  size_t head_size;    // with the empty line
  const char *piece;   // at HTTP_PIECE
  size_t piece_size;   //
  uint64_t remaining;  // bytes of the body or of the chunk
  bool until_close;    // a response that ends with its connection
  bool closes;         // the connection is not used again
};

// Takes the next step, consuming bytes.
enum http_step http_next(struct http_reader *reader, struct buffer *in);

// Whether no part of a message has been read.
bool http_idle(const struct http_reader *reader);

// The value of a field of the head, at HTTP_HEAD, and its size; NULL if there is none.
const char *http_field(const struct http_reader *reader, const char *name, size_t *size);

#endif
