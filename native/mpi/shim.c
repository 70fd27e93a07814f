/* The shim of MPI; mpi_shim.h describes its functions. Compiled by java/mpi with the machine's
 * mpicc at first use. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi_shim.h"

enum {
  ROLL_CALL_TAG = 1,
  POLLS_PER_LOOK = 64 /* at the clock */
};

/* How long a wait polls without sleeping: long steps of other members shall not cost a core for
 * ever. */
static const int64_t kYieldNs = 20 * 1000 * 1000;
static const int64_t kSleepNs = 50 * 1000;
static const int64_t kRollCallNs = 2LL * 1000 * 1000 * 1000;
static const unsigned kAbortSeconds = 1;
static const int64_t kForwardNs = 200 * 1000 * 1000;

static MPI_Comm group = MPI_COMM_NULL;
static int self, members;
static atomic_int stopping;
static atomic_int ending; /* 0 as long as the process shall not end */
static pthread_mutex_t serial = PTHREAD_MUTEX_INITIALIZER;
static int32_t* offsets;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void explain(int result, char* text, int32_t text_bytes) {
  char of_mpi[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(-result, of_mpi, &length);
  snprintf(text, (size_t)text_bytes, "%s", of_mpi);
}

static void library(char* text, int32_t text_bytes) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(name, &length);
  name[strcspn(name, "\n")] = 0;
  snprintf(text, (size_t)text_bytes, "%s", name);
}

/* MPI libraries and what they load install handlers for signals that the JVM needs, SIGSEGV above
 * all. */
static const int kSignals[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGPIPE, SIGABRT,
                               SIGQUIT, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
enum { SIGNALS = sizeof(kSignals) / sizeof(kSignals[0]) };

static int start(int32_t* facts, char* problem, int32_t problem_bytes) {
  struct sigaction handlers[SIGNALS];
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(kSignals[i], NULL, &handlers[i]);
  }
  int provided = MPI_THREAD_SINGLE;
  int result = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(kSignals[i], &handlers[i], NULL);
  }
  if (result != MPI_SUCCESS) {
    explain(-result, problem, problem_bytes);
    return -result;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    snprintf(problem, (size_t)problem_bytes, "it does not provide MPI_THREAD_SERIALIZED");
    return -MPI_ERR_OTHER;
  }
  MPI_Comm local = MPI_COMM_NULL;
  int local_self = 0, local_members = 1;
  result = MPI_Comm_dup(MPI_COMM_WORLD, &group);
  if (result == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group, &self);
    MPI_Comm_size(group, &members);
    result = MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, self, MPI_INFO_NULL, &local);
  }
  if (result == MPI_SUCCESS) {
    MPI_Comm_rank(local, &local_self);
    MPI_Comm_size(local, &local_members);
    MPI_Comm_free(&local);
    offsets = calloc((size_t)members, sizeof *offsets);
    result = offsets == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  }
  if (result != MPI_SUCCESS) {
    explain(-result, problem, problem_bytes);
    return -result;
  }
  facts[0] = self;
  facts[1] = members;
  facts[2] = local_self;
  facts[3] = local_members;
  return KVASIR_MPI_DONE;
}

/* Whether another member calls the roll. */
static int roll_is_called(void) {
  int called = 0;
  MPI_Status status;
  return MPI_Iprobe(MPI_ANY_SOURCE, ROLL_CALL_TAG, group, &called, &status) == MPI_SUCCESS &&
         called;
}

/* Marks the members that call the roll too, which those do that wait in the same gather. Nothing is
 * gathered afterwards, so that requests need no end. */
static void call_roll(uint8_t* present) {
  static char call;
  char* heard = calloc((size_t)members, 1);
  MPI_Request* requests = calloc(2 * (size_t)members, sizeof *requests);
  memset(present, 0, (size_t)members);
  present[self] = 1;
  if (heard == NULL || requests == NULL) {
    return;
  }
  for (int i = 0; i < 2 * members; i++) {
    requests[i] = MPI_REQUEST_NULL;
  }
  for (int i = 0; i < members; i++) {
    if (i != self) {
      MPI_Irecv(&heard[i], 1, MPI_CHAR, i, ROLL_CALL_TAG, group, &requests[i]);
      MPI_Isend(&call, 1, MPI_CHAR, i, ROLL_CALL_TAG, group, &requests[members + i]);
    }
  }
  const int64_t end_ns = now_ns() + kRollCallNs;
  int missing = members - 1;
  while (missing > 0 && now_ns() < end_ns) {
    for (int i = 0; i < members; i++) {
      int arrived = 0;
      if (!present[i] && MPI_Test(&requests[i], &arrived, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          arrived) {
        present[i] = 1;
        missing--;
      }
    }
    sched_yield();
  }
}

/* Polls a request: first spinning with yields, because cores may be oversubscribed, then with short
 * sleeps. */
static int await(MPI_Request* request, int64_t timeout_ns, uint8_t* present) {
  int done = 0;
  int64_t start_ns = 0;
  for (unsigned polls = 1;; polls++) {
    const int result = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) {
      return -result;
    }
    if (done) {
      return KVASIR_MPI_DONE;
    }
    if (polls % POLLS_PER_LOOK != 0) {
      sched_yield();
      continue;
    }
    if (atomic_load(&stopping)) {
      return KVASIR_MPI_STOPPED;
    }
    const int64_t waited_ns = start_ns == 0 ? 0 : now_ns() - start_ns;
    start_ns = start_ns == 0 ? now_ns() : start_ns;
    if (waited_ns > kYieldNs) {
      if (waited_ns > timeout_ns || roll_is_called()) {
        call_roll(present);
        return KVASIR_MPI_TIMEOUT;
      }
      const struct timespec pause = {0, kSleepNs};
      nanosleep(&pause, NULL);
      polls = POLLS_PER_LOOK - 1; /* looks at the clock in every round */
    }
  }
}

static int gather(const void* sent, int32_t bytes, void* received, int64_t timeout_ns,
                  uint8_t* present) {
  pthread_mutex_lock(&serial);
  MPI_Request request;
  int result = -MPI_Iallgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, group, &request);
  if (result == KVASIR_MPI_DONE) {
    result = await(&request, timeout_ns, present);
  }
  pthread_mutex_unlock(&serial);
  return result;
}

static int gather_lengths(const void* sent, const int32_t* lengths, void* received,
                          int64_t timeout_ns, uint8_t* present) {
  pthread_mutex_lock(&serial);
  int32_t total = 0;
  for (int i = 0; i < members; i++) {
    offsets[i] = total;
    total += lengths[i];
  }
  MPI_Request request;
  int result = -MPI_Iallgatherv(sent, lengths[self], MPI_BYTE, received, lengths, offsets, MPI_BYTE,
                                group, &request);
  if (result == KVASIR_MPI_DONE) {
    result = await(&request, timeout_ns, present);
  }
  pthread_mutex_unlock(&serial);
  return result;
}

static void stop(void) { atomic_store(&stopping, 1); }

static int finish(void) {
  pthread_mutex_lock(&serial);
  MPI_Comm_free(&group);
  const int result = -MPI_Finalize();
  pthread_mutex_unlock(&serial);
  return result;
}

static void leave(void) { _exit(atomic_load(&ending)); }

static void* leave_later(void* unused) {
  sleep(kAbortSeconds);
  leave();
  return unused;
}

/* MPI_Abort may take for ever, or end this process with exit code 0. MPICH's launcher then drops
 * what processes have written and it has not forwarded yet, such as the reason: so it gets time. */
static void abort_all(int32_t exit_code) {
  pthread_t watch;
  const struct timespec forwarding = {0, kForwardNs};
  atomic_store(&ending, exit_code);
  atexit(leave);
  pthread_create(&watch, NULL, leave_later, NULL);
  stop();
  nanosleep(&forwarding, NULL);
  pthread_mutex_lock(&serial);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  leave();
}

const struct kvasir_mpi_functions* kvasir_mpi_shim(void) {
  static const struct kvasir_mpi_functions shim = {
      .version = KVASIR_MPI_SHIM_VERSION,
      .start = start,
      .gather = gather,
      .gather_lengths = gather_lengths,
      .stop = stop,
      .finish = finish,
      .abort = abort_all,
      .explain = explain,
      .library = library,
  };
  return &shim;
}
