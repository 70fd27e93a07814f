#define _GNU_SOURCE
#include "bench_io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 65536, FIRST_CAPACITY = 4096, BACKLOG = 4096 };

int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(2);
}

// ---- buffers
// -------------------------------------------------------------------------------------

static void buffer_reserve(struct buffer *buffer, size_t size) {
  if (buffer->start == buffer->end) {
    buffer->start = buffer->end = 0;
  }
  if (buffer->end + size <= buffer->capacity) {
    return;
  }
  if (buffer->start > 0) {
    memmove(buffer->data, buffer_bytes(buffer), buffer_size(buffer));
    buffer->end -= buffer->start;
    buffer->start = 0;
  }
  size_t capacity = buffer->capacity == 0 ? FIRST_CAPACITY : buffer->capacity;
  while (buffer->end + size > capacity) {
    capacity *= 2;
  }
  if (capacity > buffer->capacity) {
    buffer->data = realloc(buffer->data, capacity);
    if (buffer->data == NULL) {
      fail("out of memory");
    }
    buffer->capacity = capacity;
  }
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size) {
  buffer_reserve(buffer, size);
  memcpy(buffer->data + buffer->end, bytes, size);
  buffer->end += size;
}

void buffer_consume(struct buffer *buffer, size_t size) { buffer->start += size; }

void buffer_clear(struct buffer *buffer) { buffer->start = buffer->end = 0; }

void buffer_free(struct buffer *buffer) {
  free(buffer->data);
  memset(buffer, 0, sizeof *buffer);
}

enum read_outcome buffer_read(struct buffer *buffer, int socket) {
  // Read here first: thousands of waiting connections need no memory of their own.
  static char bytes[READ_SIZE];
  for (;;) {
    ssize_t size = read(socket, bytes, sizeof bytes);
    if (size > 0) {
      buffer_append(buffer, bytes, (size_t)size);
      return READ_SOME;
    }
    if (size == 0) {
      return READ_CLOSED;
    }
    if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? READ_NOTHING : READ_CLOSED;
    }
  }
}

bool buffer_write(struct buffer *buffer, int socket) {
  while (buffer_size(buffer) > 0) {
    ssize_t size = send(socket, buffer_bytes(buffer), buffer_size(buffer), MSG_NOSIGNAL);
    if (size >= 0) {
      buffer_consume(buffer, (size_t)size);
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

// ---- options
// -------------------------------------------------------------------------------------

static const struct option_spec *find_option(const struct option_spec *specs,
                                             const char *argument) {
  for (; specs->name != NULL; specs++) {
    if (strncmp(argument, "--", 2) == 0 && strcmp(argument + 2, specs->name) == 0) {
      return specs;
    }
  }
  return NULL;
}

void parse_options(int argc, char **argv, int first, const struct option_spec *specs) {
  for (int i = first; i < argc; i += 2) {
    const struct option_spec *option = find_option(specs, argv[i]);
    if (option == NULL) {
      fprintf(stderr, "%s: no option '%s'; the options are", argv[0], argv[i]);
      for (; specs->name != NULL; specs++) {
        fprintf(stderr, " --%s", specs->name);
      }
      fail("%s", "");
    }
    if (i + 1 == argc) {
      fail("%s: %s needs a value", argv[0], argv[i]);
    }
    if (option->text != NULL) {
      *option->text = argv[i + 1];
      continue;
    }
    char *end;
    *option->number = strtod(argv[i + 1], &end);
    if (*end != '\0' || end == argv[i + 1] || !(*option->number >= 0)) {
      fail("%s: %s must be a number from 0, not '%s'", argv[0], argv[i], argv[i + 1]);
    }
  }
}

// ---- sockets
// -------------------------------------------------------------------------------------

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int open_socket(void) {
  int opened = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (opened < 0) {
    fail("no socket: %s", strerror(errno));
  }
  return opened;
}

void set_no_delay(int socket) {
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int listen_on_loopback(int port, int *bound_port) {
  int listener = open_socket();
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, BACKLOG) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
    fail("cannot listen on 127.0.0.1:%d: %s", port, strerror(errno));
  }
  *bound_port = ntohs(address.sin_port);
  return listener;
}

int connect_to_loopback(int port) {
  int connected = open_socket();
  set_no_delay(connected);
  struct sockaddr_in address = loopback(port);
  if (connect(connected, (struct sockaddr *)&address, sizeof address) != 0 &&
      errno != EINPROGRESS) {
    close(connected);
    return -1;
  }
  return connected;
}

void raise_file_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}
