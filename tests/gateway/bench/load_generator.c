// Loads an OpenAI endpoint on 127.0.0.1 whose answers come from the stub engine, checks every
// answer and prints what it measured as one line of JSON. Exit code 1 if an answer was wrong.
//
//   load_generator streams    --streams S streams at a time of --chunks C chunks, --interval-ms
//                             apart
//   load_generator saturate   --connections N, each with one short request after the other
//   load_generator count      exactly --requests N, in bursts of --burst with --pause-ms between
//                             them, every --stream-every'th one a stream; ends at the first wrong
//                             answer
//   load_generator idle       --streams S that stay open after their first chunk; prints
//                             {"ready":S} when all have it, and ends after --seconds
//
// All start no more requests when their standard input is a pipe that closes, and end.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load_answer.h"
#include "load_plan.h"

enum { MAX_EVENTS = 256, MAX_OPENING = 64, SWEEP_MS = 100 };

struct client {
  int socket;  // -1 without a connection
  bool begun;
  bool waiting;  // for an answer
  bool waits_to_write;
  int64_t heard_ns;
  struct http_reader reader;
  struct buffer in;
  struct buffer out;
  struct answer answer;
};

static struct report report;
static struct client *clients;
static struct client **free_clients;
static int client_count;
static int free_count;
static int begun_count;
static int open_streams;  // that have had their first chunk
static int epoll;
static uint64_t started;
static uint64_t burst_left;
static int64_t pause_until_ns;
static int64_t begin_ns;
static int64_t ready_ns;  // when all streams were open
static bool stops;

// ---- clients
// -------------------------------------------------------------------------------------

static void watch(int operation, struct client *client) {
  uint32_t events = client->waits_to_write ? EPOLLIN | EPOLLOUT : EPOLLIN;
  struct epoll_event event = {.events = events, .data.ptr = client};
  if (epoll_ctl(epoll, operation, client->socket, &event) != 0) {
    fail("epoll: %s", strerror(errno));
  }
}

static void disconnect(struct client *client) {
  if (client->socket >= 0) {
    close(client->socket);
    client->socket = -1;
  }
  memset(&client->reader, 0, sizeof client->reader);
  client->reader.response = true;
  buffer_clear(&client->in);
  buffer_clear(&client->out);
}

static void release(struct client *client) {
  client->waiting = false;
  free_clients[free_count++] = client;
}

// The answer is wrong; the report has it already unless there is a detail.
static void give_up(struct client *client, enum error_kind kind, const char *detail) {
  if (detail != NULL) {
    report_error(&report, kind, detail, strlen(detail));
  }
  disconnect(client);
  release(client);
  stops = stops || plan.ends_at_error;
}

static bool flush(struct client *client) {
  if (!buffer_write(&client->out, client->socket)) {
    // Refused, or closed while idle at the moment of the request.
    give_up(client, ERROR_CONNECT, strerror(errno));
    return false;
  }
  bool waits = buffer_size(&client->out) > 0;
  if (!waits && client->answer.sent_ns == 0) {
    client->answer.sent_ns = now_ns();
  }
  if (waits != client->waits_to_write) {
    client->waits_to_write = waits;
    watch(EPOLL_CTL_MOD, client);
  }
  return true;
}

static void write_request(struct client *client, bool stream) {
  char name[32];
  snprintf(name, sizeof name, "u%llu", (unsigned long long)started);
  answer_begin(&client->answer, stream, name, (int)plan.chunks);
  plan_write_request(&client->out, stream, name);
}

static void start(struct client *client, int64_t now) {
  if (!client->begun) {
    client->begun = true;
    begun_count++;
  }
  started++;
  burst_left -= burst_left > 0;
  client->waiting = true;
  client->heard_ns = now;
  bool stream = plan.stream_every >= 1 && started % (uint64_t)plan.stream_every == 0;
  if (client->socket < 0) {
    client->socket = connect_to_loopback((int)plan.port);
    if (client->socket < 0) {
      give_up(client, ERROR_CONNECT, strerror(errno));
      return;
    }
    write_request(client, stream);
    client->waits_to_write = true;
    watch(EPOLL_CTL_ADD, client);
    return;
  }
  write_request(client, stream);
  flush(client);
}

static void finish(struct client *client, int64_t now) {
  if (answer_end(&client->answer, now, &report) != ERROR_NONE) {
    give_up(client, ERROR_NONE, NULL);
    return;
  }
  if (client->reader.closes) {
    disconnect(client);
  }
  release(client);
}

// Takes what was read; false if the answer is over or wrong.
static bool take(struct client *client, int64_t now) {
  enum error_kind error = ERROR_NONE;
  int before = client->answer.received;
  switch (http_next(&client->reader, &client->in)) {
    case HTTP_MORE:
      return false;
    case HTTP_HEAD:
      error = answer_head(&client->answer, &client->reader, &report);
      break;
    case HTTP_PIECE:
      error = answer_piece(&client->answer, client->reader.piece, client->reader.piece_size, now,
                           &report);
      open_streams += before == 0 && client->answer.received > 0;
      break;
    case HTTP_END:
      finish(client, now);
      return false;
    default:
      report_error(&report, ERROR_HTTP, buffer_bytes(&client->in), buffer_size(&client->in));
      error = ERROR_HTTP;
  }
  if (error != ERROR_NONE) {
    give_up(client, error, NULL);
  }
  return error == ERROR_NONE;
}

static void on_ready(struct client *client, uint32_t events) {
  if (client->socket < 0 || ((events & EPOLLOUT) && !flush(client))) {
    return;
  }
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
    return;
  }
  enum read_outcome outcome = buffer_read(&client->in, client->socket);
  int64_t now = now_ns();
  if (outcome == READ_SOME && client->waiting) {
    client->heard_ns = now;
    while (take(client, now)) {
    }
  } else if (outcome == READ_SOME) {
    report_error(&report, ERROR_HTTP, buffer_bytes(&client->in), buffer_size(&client->in));
    disconnect(client);
  } else if (outcome == READ_CLOSED && !client->waiting) {
    disconnect(client);
  } else if (outcome == READ_CLOSED && client->reader.until_close) {
    finish(client, now);
  } else if (outcome == READ_CLOSED) {
    give_up(client, ERROR_CLOSED, client->answer.sent_ns == 0 ? "no connection" : "in an answer");
  }
}

// ---- the plan
// ------------------------------------------------------------------------------------

static bool may_start(const struct client *client, int64_t now) {
  if (stops || now >= report.to_ns || now < pause_until_ns) {
    return false;
  }
  if (plan.requests > 0 && started >= (uint64_t)plan.requests) {
    return false;
  }
  if (plan.burst > 0 && burst_left == 0) {
    if (free_count < client_count) {
      return false;
    }
    burst_left = (uint64_t)plan.burst;
    if (started > 0) {
      pause_until_ns = now + (int64_t)(plan.pause_ms * NS_PER_MS);
      return plan.pause_ms == 0;
    }
  }
  if (plan.holds) {
    return !client->begun && begun_count - open_streams < MAX_OPENING;
  }
  return client->begun || now >= begin_ns + begun_count * plan.stagger_ns;
}

static void start_more(int64_t now) {
  while (free_count > 0 && may_start(free_clients[free_count - 1], now)) {
    start(free_clients[--free_count], now);
  }
}

static void sweep(int64_t now) {
  for (int i = 0; i < client_count; i++) {
    struct client *client = &clients[i];
    bool holding = plan.holds && client->answer.received > 0;
    if (client->waiting && !holding &&
        now - client->heard_ns > (int64_t)(plan.timeout_seconds * NS_PER_S)) {
      give_up(client, ERROR_TIMEOUT, "nothing came");
    }
  }
}

static bool is_over(int64_t now) {
  if (plan.holds) {
    if (ready_ns == 0 && open_streams == client_count) {
      ready_ns = now;
      printf("{\"ready\":%d}\n", open_streams);
      fflush(stdout);
    }
    // A stream that ended too early ended with an error.
    return stops || report_failed(&report) > 0 ||
           (ready_ns != 0 && now >= ready_ns + (int64_t)(plan.seconds * NS_PER_S));
  }
  bool all_started = plan.requests > 0 && started >= (uint64_t)plan.requests;
  return (stops && plan.ends_at_error) ||
         (free_count == client_count && (stops || all_started || now >= report.to_ns));
}

static int wait_ms(int64_t now) {
  if (now < pause_until_ns) {
    int64_t left_ms = (pause_until_ns - now) / NS_PER_MS + 1;
    return left_ms < SWEEP_MS ? (int)left_ms : SWEEP_MS;
  }
  return begun_count < client_count ? 1 : SWEEP_MS;
}

static void on_input(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&input, 1, 0) > 0 && (input.revents & POLLHUP)) {
    stops = true;
  }
}

static void run(void) {
  int64_t swept_ns = begin_ns;
  for (int64_t now = begin_ns; !is_over(now); now = now_ns()) {
    start_more(now);
    struct epoll_event events[MAX_EVENTS];
    int count = epoll_wait(epoll, events, MAX_EVENTS, wait_ms(now));
    for (int i = 0; i < count; i++) {
      on_ready(events[i].data.ptr, events[i].events);
    }
    if (now - swept_ns > SWEEP_MS * NS_PER_MS) {
      sweep(now);
      on_input();
      swept_ns = now;
    }
  }
}

// ---- the beginning
// -------------------------------------------------------------------------------

static void make_clients(void) {
  clients = calloc((size_t)client_count, sizeof *clients);
  free_clients = calloc((size_t)client_count, sizeof *free_clients);
  if (clients == NULL || free_clients == NULL) {
    fail("out of memory");
  }
  for (int i = 0; i < client_count; i++) {
    clients[i].socket = -1;
    disconnect(&clients[i]);
    free_clients[free_count++] = &clients[i];
  }
}

int main(int argc, char **argv) {
  plan_read(argc, argv);
  report.mode = argv[1];
  client_count = plan.clients;
  raise_file_limit();
  make_clients();
  epoll = epoll_create1(EPOLL_CLOEXEC);
  begin_ns = now_ns();
  bool timed = plan.requests == 0 && !plan.holds;
  report.from_ns = begin_ns + (timed ? (int64_t)(plan.warmup * NS_PER_S) : 0);
  report.to_ns = timed ? report.from_ns + (int64_t)(plan.seconds * NS_PER_S) : INT64_MAX;
  run();
  report_print(&report, now_ns());
  return report_failed(&report) > 0;
}
