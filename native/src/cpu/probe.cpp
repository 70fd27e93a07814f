#include "kvasir/block_pool.hpp"

namespace kvasir {

namespace {

// One bisection in progress.
struct Search {
  const Directory* directory;
  const uint64_t* hashes;
  uint32_t held;
  uint32_t end;
  uint32_t* matched;

  uint32_t middle() const { return held + (end - held) / 2; }
};

// Look-ups in flight: enough to keep the memory system busy, few enough to stay in registers'
// reach.
constexpr uint32_t kInFlight = 32;

}  // namespace

void probe(const BlockPool* const* pools, uint32_t pool_count, const uint64_t* hashes,
           const uint32_t* offsets, uint32_t prompts, uint32_t* matched) {
  Search searches[kInFlight];
  uint32_t in_flight = 0;
  uint64_t next = 0;
  const uint64_t total = static_cast<uint64_t>(pool_count) * prompts;
  // Pools vary fastest: one prompt's hashes are read for all pools while they are in cache.
  const auto start = [&]() {
    while (next < total) {
      const uint32_t prompt = static_cast<uint32_t>(next / pool_count);
      const uint32_t pool = static_cast<uint32_t>(next % pool_count);
      next++;
      uint32_t* answer = &matched[static_cast<uint64_t>(pool) * prompts + prompt];
      *answer = 0;
      if (offsets[prompt] == offsets[prompt + 1]) {
        continue;
      }
      Search& search = searches[in_flight];
      search = {&pools[pool]->directory(), hashes + offsets[prompt], 0,
                offsets[prompt + 1] - offsets[prompt], answer};
      directory_prefetch(*search.directory, search.hashes[search.middle()]);
      return true;
    }
    return false;
  };
  while (in_flight < kInFlight && start()) {
    in_flight++;
  }
  while (in_flight > 0) {
    for (uint32_t i = 0; i < in_flight;) {
      Search& search = searches[i];
      const uint32_t middle = search.middle();
      if (directory_contains(*search.directory, search.hashes[middle])) {
        search.held = middle + 1;
      } else {
        search.end = middle;
      }
      if (search.held < search.end) {
        directory_prefetch(*search.directory, search.hashes[search.middle()]);
        i++;
        continue;
      }
      *search.matched = search.held;
      // The last search takes this place, and a new one the last place.
      in_flight--;
      searches[i] = searches[in_flight];
      if (start()) {
        in_flight++;
      }
    }
  }
}

}  // namespace kvasir
