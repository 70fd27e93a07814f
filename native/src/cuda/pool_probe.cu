// Probe: matches prompts in several pools' directories, concurrently with their owners.
//
// Two variants of one bisection (PrefixSearch in block_directory_core.hpp) with the same result for
// any directory. With many searches the rate of random memory accesses is the limit, so a search
// loads only what it needs. With few searches the latency of dependent accesses is the limit and
// most lanes are idle, so a warp loads every block that the next five steps may need.

#include "device_primitives.cuh"

namespace kvasir {

// With more searches than this, one warp per search would be limited by memory rate, not latency.
constexpr uint32_t kMostWideSearches = 2048;

// Matched leading blocks of one prompt, by all lanes of a warp. A round looks up the 31 midpoints
// of the next five steps; lane l has node l + 1 of their tree (2n goes down, 2n + 1 up). The last
// lane checks the first block, which the others assume to be held. O(log blocks / 5) rounds.
KVASIR_DEVICE uint32_t warp_search(const Directory& directory, const uint64_t* names,
                                   uint32_t blocks) {
  if (blocks == 0) {
    return 0;
  }
  const uint32_t own_node = lane() + 1;
  uint32_t held = 1;
  uint32_t end = blocks;
  do {
    uint32_t from = held;
    uint32_t to = end;
    for (int bit = 30 - __clz(static_cast<int>(own_node)); bit >= 0 && from < to; bit--) {
      const uint32_t middle = from + (to - from) / 2;
      if ((own_node >> bit & 1) != 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    const bool first = own_node == 32;
    const uint32_t block = first ? 0 : from + (to - from) / 2;
    const bool found = (first || from < to) && directory_position(directory, names[block]) >= 0;
    const uint32_t hits = __ballot_sync(kAllLanes, found);
    if (hits >> 31 == 0) {
      return 0;
    }
    for (uint32_t node = 1; node < 32 && held < end;) {
      const uint32_t middle = held + (end - held) / 2;
      const uint32_t hit = hits >> (node - 1) & 1;
      node = 2 * node + hit;
      if (hit != 0) {
        held = middle + 1;
      } else {
        end = middle;
      }
    }
  } while (held < end);
  return held;
}

}  // namespace kvasir

// matched[pool * prompts + prompt] = matched leading blocks; prompt i owns hashes[offsets[i]] to
// hashes[offsets[i + 1]]. With few searches and a warp for each in the grid: O(log blocks / 5)
// dependent look-ups of 32 accesses. Otherwise four lanes per search load two words of a bucket
// each, so that a look-up is one 64-byte access; eight searches per warp, O(log blocks) look-ups
// each. Pools vary fastest, so that neighbours read the same hashes.
extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_probe(const kvasir::DevicePool* const* pools, uint32_t pool_count,
                 const uint64_t* hashes, const uint32_t* offsets, uint32_t prompts,
                 uint32_t* matched) {
  using namespace kvasir;
  const uint64_t searches = static_cast<uint64_t>(pool_count) * prompts;
  if (searches <= warps_in_grid() && searches <= kMostWideSearches) {
    const uint32_t search = warp_in_grid();
    if (search < searches) {
      const uint32_t prompt = search / pool_count;
      const uint32_t pool = search % pool_count;
      const uint32_t held = warp_search(pools[pool]->directory, hashes + offsets[prompt],
                                        offsets[prompt + 1] - offsets[prompt]);
      if (lane() == 0) {
        matched[static_cast<uint64_t>(pool) * prompts + prompt] = held;
      }
    }
    return;
  }
  constexpr uint32_t kLanes = 4;
  constexpr uint32_t kSearches = 32 / kLanes;
  const uint32_t pair = lane() % kLanes;
  const uint32_t group = lane() - pair;
  for (uint64_t first = static_cast<uint64_t>(warp_in_grid()) * kSearches; first < searches;
       first += static_cast<uint64_t>(warps_in_grid()) * kSearches) {
    const uint64_t search = first + lane() / kLanes;
    const bool exists = search < searches;
    const uint32_t prompt = exists ? static_cast<uint32_t>(search / pool_count) : 0;
    const uint32_t pool = exists ? static_cast<uint32_t>(search % pool_count) : 0;
    const Directory directory = pools[pool]->directory;
    const uint64_t* names = hashes + offsets[prompt];
    uint32_t held = 0;
    const uint32_t blocks = exists ? offsets[prompt + 1] - offsets[prompt] : 0;
    uint32_t end = blocks;
    uint64_t key = 0;
    uint64_t bucket = 0;
    uint64_t visited = 0;  // buckets visited by this look-up; 0 before the first
    while (__any_sync(kAllLanes, held < end)) {
      const bool searching = held < end;
      const uint32_t middle = held == 0 && end == blocks ? 0 : held + (end - held) / 2;
      uint64_t low = 0;
      uint64_t high = 0;
      if (searching) {
        if (visited == 0) {
          key = directory_key(names[middle]);
          bucket = directory_home(directory, key);
        }
        visited++;
        load_pair(directory.buckets[bucket].keys + 2 * pair, low, high);
      }
      // The last word of a bucket is its marks.
      const bool last = pair == kLanes - 1;
      const bool hit = searching && (low == key || (!last && high == key));
      const uint32_t hits = __ballot_sync(kAllLanes, hit);
      const uint32_t passed = __ballot_sync(kAllLanes, searching && last && high != 0);
      if (!searching) {
        continue;
      }
      constexpr uint32_t kGroup = (1u << kLanes) - 1;
      if ((hits >> group & kGroup) != 0) {
        held = middle + 1;
        visited = 0;
      } else if ((passed >> group & kGroup) != 0 && visited < directory.bucket_count) {
        bucket = next_bucket(directory, bucket);
      } else {
        end = middle;
        visited = 0;
      }
    }
    if (exists && pair == 0) {
      matched[static_cast<uint64_t>(pool) * prompts + prompt] = held;
    }
  }
}
