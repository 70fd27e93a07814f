// What the stub engine and the load generator share: a clock, a growing buffer, options, sockets.
#ifndef KVASIR_BENCH_IO_H
#define KVASIR_BENCH_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

// The monotonic clock, which all processes of a machine share.
int64_t now_ns(void);

// Ends the process with a line on standard error and exit code 2.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Bytes that are appended at the end and consumed at the start.
struct buffer {
  char *data;
  size_t start;
  size_t end;
  size_t capacity;
};

static inline char *buffer_bytes(struct buffer *buffer) { return buffer->data + buffer->start; }
static inline size_t buffer_size(const struct buffer *buffer) {
  return buffer->end - buffer->start;
}
void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_consume(struct buffer *buffer, size_t size);
void buffer_clear(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

// What a read from a socket found.
enum read_outcome { READ_SOME, READ_NOTHING, READ_CLOSED };

// Reads once, without waiting.
enum read_outcome buffer_read(struct buffer *buffer, int socket);

// Writes as much as the socket takes; false if the connection is broken.
bool buffer_write(struct buffer *buffer, int socket);

// An option of a command line: --NAME NUMBER, or --NAME TEXT if text is set.
struct option_spec {
  const char *name;
  double *number;
  const char **text;
};

// Reads options from argv[first] on; a wrong one ends the process and names all.
void parse_options(int argc, char **argv, int first, const struct option_spec *specs);

// Sockets of 127.0.0.1, without waiting and without Nagle's delay.
int listen_on_loopback(int port, int *bound_port);
int connect_to_loopback(int port);
void set_no_delay(int socket);

// Allows as many open files as the system lets this process have.
void raise_file_limit(void);

#endif
