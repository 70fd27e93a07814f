#define _GNU_SOURCE
#include "load_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static const char *const error_names[ERROR_KINDS] = {
    "", "connect", "closed", "timeout", "http", "status", "content", "chunks", "end"};

void samples_add(struct samples *samples, int64_t ns) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity == 0 ? 1024 : 2 * samples->capacity;
    samples->ns = realloc(samples->ns, samples->capacity * sizeof *samples->ns);
    if (samples->ns == NULL) {
      fail("out of memory");
    }
  }
  samples->ns[samples->count++] = ns;
}

void report_error(struct report *report, enum error_kind kind, const char *detail, size_t size) {
  report->errors[kind]++;
  if (report->first_error[0] != '\0') {
    return;
  }
  size_t room = sizeof report->first_error - 1;
  int length = snprintf(report->first_error, room, "%s: ", error_names[kind]);
  for (size_t i = 0; i < size && (size_t)length < room; i++) {
    char c = detail[i];
    // The report is JSON.
    report->first_error[length++] = (unsigned char)c < ' ' ? ' ' : c == '"' || c == '\\' ? '\'' : c;
  }
  report->first_error[length] = '\0';
}

uint64_t report_failed(const struct report *report) {
  uint64_t failed = 0;
  for (int kind = 0; kind < ERROR_KINDS; kind++) {
    failed += report->errors[kind];
  }
  return failed;
}

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left;
  int64_t b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

// The smallest sample that is not exceeded by at least this share of all, in microseconds.
static double at(const struct samples *samples, double share) {
  if (samples->count == 0) {
    return 0;
  }
  size_t index = (size_t)(share * (double)samples->count);
  index = index < samples->count ? index : samples->count - 1;
  return (double)samples->ns[index] / NS_PER_US;
}

static void print_samples(const char *name, struct samples *samples) {
  if (samples->count > 0) {
    qsort(samples->ns, samples->count, sizeof *samples->ns, compare);
  }
  printf(",\"%s\":{\"count\":%zu,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"max\":%.1f}", name,
         samples->count, at(samples, 0.5), at(samples, 0.9), at(samples, 0.99), at(samples, 1));
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void report_print(struct report *report, int64_t now) {
  int64_t to = report->to_ns < now ? report->to_ns : now;
  double seconds = (double)(to - report->from_ns) / NS_PER_S;
  if (seconds <= 0) {
    seconds = 1e-9;
  }
  printf("{\"mode\":\"%s\",\"seconds\":%.3f,\"cpu_seconds\":%.3f", report->mode, seconds,
         cpu_seconds());
  printf(",\"requests\":%llu,\"requests_per_s\":%.1f,\"chunks\":%llu,\"chunks_per_s\":%.1f",
         (unsigned long long)report->requests, (double)report->requests / seconds,
         (unsigned long long)report->chunks, (double)report->chunks / seconds);
  printf(",\"all_requests\":%llu,\"all_chunks\":%llu", (unsigned long long)report->all_requests,
         (unsigned long long)report->all_chunks);
  print_samples("first_byte_us", &report->first_byte);
  print_samples("chunk_us", &report->chunk);
  print_samples("request_us", &report->request);
  printf(",\"failed\":%llu,\"errors\":{", (unsigned long long)report_failed(report));
  for (int kind = 1; kind < ERROR_KINDS; kind++) {
    printf("%s\"%s\":%llu", kind == 1 ? "" : ",", error_names[kind],
           (unsigned long long)report->errors[kind]);
  }
  printf("},\"first_error\":\"%s\"}\n", report->first_error);
  fflush(stdout);
}
