// A minimal test harness: a failed CHECK ends the program with its location and the seed, or calls
// g_on_failed_check.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Set by random tests so that a failure can be repeated.
inline uint64_t g_seed = 0;

// Called on a failed check; must not return.
inline void (*g_on_failed_check)(const char* message) = [](const char* message) {
  std::fprintf(stderr, "%s\n", message);
  std::exit(1);
};

[[noreturn]] inline void fail_check(const char* file, int line, const char* condition) {
  char message[512];
  std::snprintf(message, sizeof message, "%s:%d: CHECK(%s) failed, seed %llu", file, line,
                condition, static_cast<unsigned long long>(g_seed));
  g_on_failed_check(message);
  std::abort();
}

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) {                           \
      fail_check(__FILE__, __LINE__, #condition); \
    }                                             \
  } while (false)

// A small deterministic generator (SplitMix64).
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(next() % bound); }

 private:
  uint64_t state_;
};
