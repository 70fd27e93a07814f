// An engine that speaks OpenAI's API on 127.0.0.1 and computes nothing: it streams words at a given
// pace. Every chunk has the time of the monotonic clock at which it was written ("t"), and the
// first one how long the engine had the request by then ("took"), in nanoseconds. The pace comes
// from the options or from the fields x-stub-chunks, x-stub-interval-ms and x-stub-first-ms of a
// request.
//
// Prints "ready PORT". Ends on SIGTERM, when its standard input is a pipe that closes, and after
// --seconds.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "http_reader.h"
#include "stub_replies.h"
#include "stub_requests.h"
#include "timer_heap.h"

enum { MAX_EVENTS = 256, MAX_UNSENT = 64 << 20, MAX_BODY = 64 << 20, BYTES_OF_TOKEN = 4 };

struct connection {
  int socket;
  struct http_reader reader;
  struct buffer in;
  struct buffer body;
  struct buffer out;
  struct timer timer;  // the next chunk, or the end of an idle connection
  enum route route;
  struct completion completion;
  bool answering;
  bool closes;
  bool waits_to_write;
};

static struct {
  int epoll;
  struct timer_heap timers;
  struct timer end;
  struct pace pace;
  const char *model;
  int64_t idle_ns;
  bool tokenizes;
  struct stub_stats stats;
} stub;

static volatile sig_atomic_t stopped;

static void on_signal(int signal) {
  (void)signal;
  stopped = 1;
}

static void watch(int operation, int socket, uint32_t events, void *owner) {
  struct epoll_event event = {.events = events, .data.ptr = owner};
  if (epoll_ctl(stub.epoll, operation, socket, &event) != 0 && errno != EPERM) {
    fail("epoll: %s", strerror(errno));
  }
}

static void drop(struct connection *connection) {
  if (connection->answering) {
    stub.stats.disconnects++;
    stub.stats.running--;
  }
  stub.stats.open_connections--;
  timer_cancel(&stub.timers, &connection->timer);
  close(connection->socket);
  buffer_free(&connection->in);
  buffer_free(&connection->body);
  buffer_free(&connection->out);
  free(connection);
}

// Writes what there is; false if the connection was dropped.
static bool flush(struct connection *connection) {
  if (!buffer_write(&connection->out, connection->socket) ||
      buffer_size(&connection->out) > MAX_UNSENT) {
    drop(connection);
    return false;
  }
  bool waits = buffer_size(&connection->out) > 0;
  if (waits != connection->waits_to_write) {
    connection->waits_to_write = waits;
    watch(EPOLL_CTL_MOD, connection->socket, waits ? EPOLLIN | EPOLLOUT : EPOLLIN, connection);
  }
  if (!waits && connection->closes && !connection->answering) {
    drop(connection);
    return false;
  }
  return true;
}

// ---- requests ------------------------------------------------------------------------------

static void read_head(struct connection *connection) {
  const struct http_reader *reader = &connection->reader;
  connection->route = request_read(reader, &stub.pace, &connection->completion);
  if (connection->route == ROUTE_TOKENIZE && !stub.tokenizes) {
    connection->route = ROUTE_NONE;
  }
  connection->closes = reader->closes;
  size_t size;
  if (http_field(reader, "expect", &size) != NULL) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    buffer_append(&connection->out, go_on, sizeof go_on - 1);
  }
}

static void set_chunk_timer(struct connection *connection) {
  const struct completion *completion = &connection->completion;
  int chunk = completion->stream       ? completion->written
              : completion->hands_over ? 0  // one token
                                       : completion->pace.chunks - 1;
  timer_set(&stub.timers, &connection->timer,
            completion->read_ns + completion->pace.first_ns + chunk * completion->pace.interval_ns);
}

static void begin_completion(struct connection *connection) {
  struct completion *completion = &connection->completion;
  completion->read_ns = now_ns();
  completion_read_body(completion, buffer_bytes(&connection->body), buffer_size(&connection->body));
  if (completion->name[0] == '\0') {
    snprintf(completion->name, sizeof completion->name, "%llu",
             (unsigned long long)stub.stats.requests);
  }
  connection->answering = true;
  stub.stats.running++;
  if (completion->stream) {
    stub.stats.streams++;
    stream_head(&connection->out);
  }
  set_chunk_timer(connection);
}

static void answer(struct connection *connection) {
  struct buffer *out = &connection->out;
  stub.stats.requests++;
  switch (connection->route) {
    case ROUTE_HEALTH:
      reply_json(out, 200, "{}");
      break;
    case ROUTE_MODELS:
      reply_models(out, stub.model);
      break;
    case ROUTE_METRICS:
      reply_metrics(out, &stub.stats);
      break;
    case ROUTE_STATS:
      reply_stats(out, &stub.stats);
      break;
    case ROUTE_TOKENIZE:
      reply_tokens(out, buffer_size(&connection->body) / BYTES_OF_TOKEN);
      break;
    case ROUTE_COMPLETION:
      if (buffer_size(&connection->body) == 0) {
        reply_json(out, 400, "{\"error\":{\"message\":\"no body\"}}");
        break;
      }
      begin_completion(connection);
      break;
    default:
      reply_json(out, 404, "{\"error\":{\"message\":\"no such path\"}}");
  }
  buffer_clear(&connection->body);
}

// Reads requests up to the first whose answer takes time; false if the connection was dropped.
static bool read_requests(struct connection *connection) {
  while (!connection->answering) {
    enum http_step step = http_next(&connection->reader, &connection->in);
    if (step == HTTP_MORE) {
      break;
    }
    if (step == HTTP_HEAD) {
      timer_cancel(&stub.timers, &connection->timer);
      read_head(connection);
    } else if (step == HTTP_PIECE) {
      buffer_append(&connection->body, connection->reader.piece, connection->reader.piece_size);
    } else if (step == HTTP_END) {
      answer(connection);
    }
    if (step == HTTP_WRONG || buffer_size(&connection->body) > MAX_BODY) {
      reply_json(&connection->out, 400, "{\"error\":{\"message\":\"not HTTP\"}}");
      connection->closes = true;
      break;
    }
  }
  if (http_idle(&connection->reader) && !connection->answering && connection->timer.place == 0) {
    timer_set(&stub.timers, &connection->timer, now_ns() + stub.idle_ns);
  }
  // A head that the first chunk follows at once goes out with it.
  bool at_once = connection->answering && connection->completion.pace.first_ns == 0;
  return at_once || flush(connection);
}

// ---- what happens --------------------------------------------------------------------------

static void on_timer(struct connection *connection, int64_t now) {
  struct completion *completion = &connection->completion;
  timer_cancel(&stub.timers, &connection->timer);
  if (!connection->answering) {
    drop(connection);  // idle
    return;
  }
  if (completion->stream) {
    stream_chunk(&connection->out, completion, stub.model);
    stub.stats.chunks++;
    if (completion->written < completion->pace.chunks) {
      set_chunk_timer(connection);
      flush(connection);
      return;
    }
    // The last word is written by itself, as engines do.
    if (!flush(connection)) {
      return;
    }
    stream_end(&connection->out, completion, stub.model);
  } else {
    reply_completion(&connection->out, completion, stub.model);
  }
  connection->answering = false;
  stub.stats.running--;
  timer_set(&stub.timers, &connection->timer, now + stub.idle_ns);
  if (flush(connection) && buffer_size(&connection->in) > 0) {
    read_requests(connection);
  }
}

static void on_ready(struct connection *connection, uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) {
    drop(connection);
    return;
  }
  if ((events & EPOLLOUT) && !flush(connection)) {
    return;
  }
  if (events & EPOLLIN) {
    enum read_outcome outcome = buffer_read(&connection->in, connection->socket);
    if (outcome == READ_CLOSED) {
      drop(connection);
    } else if (outcome == READ_SOME) {
      read_requests(connection);
    }
  }
}

static void accept_all(int listener) {
  for (;;) {
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      return;
    }
    set_no_delay(socket);
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
      fail("out of memory");
    }
    connection->socket = socket;
    connection->timer.owner = connection;
    stub.stats.connections++;
    stub.stats.open_connections++;
    timer_set(&stub.timers, &connection->timer, now_ns() + stub.idle_ns);
    watch(EPOLL_CTL_ADD, socket, EPOLLIN, connection);
  }
}

static void on_input(void) {
  char bytes[256];
  if (read(STDIN_FILENO, bytes, sizeof bytes) == 0) {
    stopped = 1;
  }
}

static void run_timers(void) {
  int64_t now = now_ns();
  for (struct timer *first = timer_first(&stub.timers); first != NULL && first->due_ns <= now;
       first = timer_first(&stub.timers)) {
    if (first == &stub.end) {
      stopped = 1;
      return;
    }
    on_timer(first->owner, now);
  }
}

// Wakes epoll when the first timer is due.
static void arm(int timer_fd) {
  static int64_t armed;
  struct timer *first = timer_first(&stub.timers);
  int64_t due = first == NULL ? 0 : first->due_ns > 0 ? first->due_ns : 1;
  if (due != armed) {
    struct itimerspec at = {.it_value = {.tv_sec = due / NS_PER_S, .tv_nsec = due % NS_PER_S}};
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    armed = due;
  }
}

static void run(int listener) {
  static int listener_tag;
  static int timer_tag;
  static int input_tag;
  sigset_t none;
  sigemptyset(&none);
  int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  watch(EPOLL_CTL_ADD, listener, EPOLLIN, &listener_tag);
  watch(EPOLL_CTL_ADD, timer_fd, EPOLLIN | EPOLLET, &timer_tag);
  watch(EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN, &input_tag);  // a file is no pipe: EPERM
  while (!stopped) {
    struct epoll_event events[MAX_EVENTS];
    arm(timer_fd);
    int count = epoll_pwait(stub.epoll, events, MAX_EVENTS, -1, &none);
    for (int i = 0; i < count; i++) {
      void *owner = events[i].data.ptr;
      if (owner == &listener_tag) {
        accept_all(listener);
      } else if (owner == &input_tag) {
        on_input();
      } else if (owner != &timer_tag) {
        on_ready(owner, events[i].events);
      }
    }
    run_timers();
  }
}

int main(int argc, char **argv) {
  double port = 0, seconds = 0, idle_seconds = 5, chunks = 10, interval_ms = 20, first_ms = 20;
  double tokenizes = 1;
  stub.model = "stub-model";
  const struct option_spec options[] = {{"port", &port, NULL},
                                        {"seconds", &seconds, NULL},
                                        {"idle-seconds", &idle_seconds, NULL},
                                        {"chunks", &chunks, NULL},
                                        {"interval-ms", &interval_ms, NULL},
                                        {"first-ms", &first_ms, NULL},
                                        {"tokenizes", &tokenizes, NULL},
                                        {"model", NULL, &stub.model},
                                        {NULL, NULL, NULL}};
  parse_options(argc, argv, 1, options);
  stub.pace = (struct pace){(int)chunks, (int64_t)(first_ms * NS_PER_MS),
                            (int64_t)(interval_ms * NS_PER_MS)};
  stub.tokenizes = tokenizes != 0;
  stub.idle_ns = (int64_t)(idle_seconds * NS_PER_S);
  stub.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (seconds > 0) {
    timer_set(&stub.timers, &stub.end, now_ns() + (int64_t)(seconds * NS_PER_S));
  }

  // Signals are only taken while epoll waits, so that none is missed.
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGTERM);
  sigaddset(&taken, SIGINT);
  sigprocmask(SIG_BLOCK, &taken, NULL);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);

  raise_file_limit();
  int bound_port;
  int listener = listen_on_loopback((int)port, &bound_port);
  printf("ready %d\n", bound_port);
  fflush(stdout);
  run(listener);
  return 0;
}
