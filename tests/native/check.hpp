// The smallest test harness that serves: CHECK ends the program with the place and the seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Set by random tests so that a failure can be run again.
inline uint64_t g_seed = 0;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: CHECK(%s) failed, seed %llu\n", __FILE__, __LINE__,    \
                   #condition, static_cast<unsigned long long>(g_seed));                  \
      std::exit(1);                                                                       \
    }                                                                                     \
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
