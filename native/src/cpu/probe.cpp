#include "kvasir/block_directory.hpp"

namespace kvasir {

namespace {

// Searches in flight: enough to saturate the memory system, few enough to fit in L1.
constexpr uint32_t kInFlight = 32;

struct PendingMatch {
  PrefixSearch search;
  uint32_t* matched;
};

}  // namespace

void probe(const Directory* const* directories, uint32_t directory_count, const uint64_t* hashes,
           const uint32_t* offsets, uint32_t prompts, uint32_t* matched) {
  PendingMatch pending[kInFlight];
  uint32_t in_flight = 0;
  uint32_t prompt = 0;
  uint32_t next = 0;
  // Directories vary fastest: a prompt's hashes are read for all of them while cached.
  const auto start_next = [&](PendingMatch& match) {
    while (prompt < prompts) {
      const Directory* directory = directories[next];
      const uint64_t* first = hashes + offsets[prompt];
      const uint32_t count = offsets[prompt + 1] - offsets[prompt];
      match.matched = &matched[static_cast<uint64_t>(next) * prompts + prompt];
      if (++next == directory_count) {
        next = 0;
        prompt++;
      }
      if (count > 0 && directory != nullptr) {
        match.search.start(*directory, first, count);
        return true;
      }
      *match.matched = 0;
    }
    return false;
  };
  while (in_flight < kInFlight && start_next(pending[in_flight])) {
    in_flight++;
  }
  while (in_flight > 0) {
    for (PendingMatch* match = pending; match < pending + in_flight;) {
      if (match->search.advance()) {
        match++;
        continue;
      }
      *match->matched = match->search.held_blocks();
      if (start_next(*match)) {
        match++;
      } else {
        *match = pending[--in_flight];
      }
    }
  }
}

}  // namespace kvasir
