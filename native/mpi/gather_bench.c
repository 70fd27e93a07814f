/* The times of gathers in a plain C program, to compare those of Kvasir with: gather_bench BYTES
 * GATHERS WARM_UP. As frames have any length, a slot is the length and the frame; the four bytes
 * make 256 too many for the fastest way of some MPI libraries. Member 0 prints p50 and p99 in
 * nanoseconds. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int compare(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left;
  const int64_t b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

static void gather(void* sent, int bytes, void* received) {
  MPI_Request request;
  int done = 0;
  MPI_Iallgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
       MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    sched_yield();
  }
}

int main(int count, char** arguments) {
  int self = 0, members = 0, provided = 0;
  if (count != 4) {
    return 2;
  }
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &members);
  const int bytes = atoi(arguments[1]);
  const int gathers = atoi(arguments[2]);
  const int warm_up = atoi(arguments[3]);
  const int slot = bytes + (int)sizeof(int32_t);
  char* sent = calloc((size_t)slot, 1);
  char* received = calloc((size_t)slot, (size_t)members);
  int64_t* times = calloc((size_t)gathers, sizeof *times);
  for (int i = 0; i < warm_up; i++) {
    gather(sent, slot, received);
  }
  for (int i = 0; i < gathers; i++) {
    const int64_t start_ns = now_ns();
    memcpy(sent, &bytes, sizeof bytes);
    gather(sent, slot, received);
    times[i] = now_ns() - start_ns;
  }
  if (self == 0) {
    qsort(times, (size_t)gathers, sizeof *times, compare);
    printf("%lld %lld\n", (long long)times[gathers / 2],
           (long long)times[gathers - 1 - gathers / 100]);
  }
  free(sent);
  free(received);
  free(times);
  return MPI_Finalize();
}
