// Probe: prompts against several pools' directories, beside whatever their owners do.

#include "device_primitives.cuh"

// matched[pool * prompts + prompt] = leading blocks held; prompt i owns hashes[offsets[i]] to
// hashes[offsets[i + 1]]. Eight lanes per search, one word of a bucket each, so that a look-up is
// one 64-byte access; four searches in a warp, O(log blocks) look-ups each: the first block,
// which tells whether there is anything, then a bisection. Pools vary fastest,
// so that neighbours read the same hashes.
extern "C" __global__ void kvasir_probe(const kvasir::DevicePool* const* pools, uint32_t pool_count,
                                        const uint64_t* hashes, const uint32_t* offsets,
                                        uint32_t prompts, uint32_t* matched) {
  using namespace kvasir;
  const uint32_t word = lane() % 8;
  const uint32_t group = lane() / 8 * 8;
  const uint64_t searches = static_cast<uint64_t>(pool_count) * prompts;
  for (uint64_t first = static_cast<uint64_t>(warp_in_grid()) * 4; first < searches;
       first += static_cast<uint64_t>(warps_in_grid()) * 4) {
    const uint64_t search = first + lane() / 8;
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
    uint64_t visited = 0;  // buckets of this look-up; 0 before it begins
    while (__any_sync(kAllLanes, held < end)) {
      const uint32_t middle = held == 0 && end == blocks ? 0 : held + (end - held) / 2;
      uint64_t found = 0;
      if (held < end) {
        if (visited == 0) {
          key = directory_key(names[middle]);
          bucket = directory_home(directory, key);
        }
        visited++;
        const uint64_t* line = reinterpret_cast<const uint64_t*>(&directory.buckets[bucket]);
        found = load_relaxed(line + word);
      }
      const uint32_t hits = __ballot_sync(kAllLanes, held < end && word < 7 && found == key);
      const uint32_t passed = __ballot_sync(kAllLanes, held < end && word == 7 && found != 0);
      if (held == end) {
        continue;
      }
      if ((hits >> group & 0xff) != 0) {
        held = middle + 1;
        visited = 0;
      } else if ((passed >> group & 0xff) != 0 && visited < directory.bucket_count) {
        bucket = next_bucket(directory, bucket);
      } else {
        end = middle;
        visited = 0;
      }
    }
    if (exists && word == 0) {
      matched[static_cast<uint64_t>(pool) * prompts + prompt] = held;
    }
  }
}
