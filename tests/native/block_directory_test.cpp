// A search terminates for any bucket contents: with every bucket full and passed by some key (which
// a crowded history can leave behind), an absent hash is missed after reading each bucket once.

#include "check.hpp"
#include "kvasir/block_directory_core.hpp"

int main() {
  using namespace kvasir;
  constexpr uint64_t kBuckets = 5;
  Bucket buckets[kBuckets] = {};
  for (Bucket& bucket : buckets) {
    for (uint64_t& key : bucket.keys) {
      key = 1;
    }
    bucket.passed = 1;
  }
  const Directory directory{buckets, nullptr, kBuckets};
  for (uint64_t absent = 2; absent < 100; absent++) {
    PrefixSearch search;
    search.start(directory, &absent, 1);
    uint64_t steps = 1;
    while (search.advance()) {
      steps++;
    }
    CHECK(steps == kBuckets);
    CHECK(search.held_blocks() == 0);
  }
  std::puts("block_directory_test: ok");
  return 0;
}
