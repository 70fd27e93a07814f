// What the fuzz tests share. KVASIR_FUZZ_SECONDS (2) is how long one runs, KVASIR_FUZZ_SEED (the
// time) the first of its seeds. A case that takes a minute, times KVASIR_TEST_PATIENCE (1), hangs.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "check.hpp"

namespace kvasir {

inline uint64_t fuzz_setting(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// A word of every kind that matters: near another, near a power of two, small, large, any.
inline uint64_t odd_word(TestRandom& random, uint64_t word) {
  switch (random.below(6)) {
    case 0:
      return word ^ uint64_t { 1 } << random.below(64);
    case 1:
      return word + random.below(300) - 150;
    case 2:
      return (uint64_t{1} << random.below(64)) + random.below(3) - 1;
    case 3:
      return random.below(200);
    case 4:
      return ~uint64_t{0} - random.below(200);
    default:
      return random.next();
  }
}

[[noreturn]] inline void fail_slow_case(int) {
  fail_check(__FILE__, __LINE__, "a case does not hang");
}

inline unsigned patience_seconds() {
  const char* factor = std::getenv("KVASIR_TEST_PATIENCE");
  const double seconds = 60 * (factor == nullptr ? 1 : std::strtod(factor, nullptr));
  return seconds < 1 ? 1 : static_cast<unsigned>(seconds);
}

// Runs cases with increasing seeds. Each returns how much of its damage was refused; a run in which
// nothing was refused proves nothing and fails.
inline int fuzz(const char* name, uint64_t (*run_case)(uint64_t seed)) {
  using Clock = std::chrono::steady_clock;
  signal(SIGALRM, fail_slow_case);
  const auto now = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  const uint64_t first = fuzz_setting("KVASIR_FUZZ_SEED", now);
  const auto end = Clock::now() + std::chrono::seconds(fuzz_setting("KVASIR_FUZZ_SECONDS", 2));
  std::printf("%s: KVASIR_FUZZ_SEED=%llu\n", name, static_cast<unsigned long long>(first));
  std::fflush(stdout);
  uint64_t refused = 0;
  g_seed = first;
  const unsigned patience = patience_seconds();
  do {
    alarm(patience);
    refused += run_case(g_seed++);
  } while (Clock::now() < end);
  alarm(0);
  CHECK(refused > 0);
  std::printf("%s: ok, %llu seeds\n", name, static_cast<unsigned long long>(g_seed - first));
  return 0;
}

}  // namespace kvasir
