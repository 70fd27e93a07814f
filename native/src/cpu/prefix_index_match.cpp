// Look-ups in a prefix index, by any number of readers.

#include <algorithm>

#include "kvasir/prefix_index.hpp"

namespace kvasir {

uint32_t PrefixIndex::match(const uint64_t* names, uint32_t count, uint32_t rank_limit,
                            uint32_t* ranks, uint32_t* blocks) {
  // A rank's position in the answer; valid only if the answer's entry agrees.
  thread_local std::vector<uint32_t> places;
  if (places.size() < rank_limit) places.resize(rank_limit);
  uint32_t found = 0;
  uint32_t begin = 0;  // the first block of the run
  uint32_t parent = kNoBlock;
  const ReaderEpochs::Guard guard(&runs_.epochs());
  const uint32_t now = static_cast<uint32_t>(runs_.epochs().current());
  while (begin < count) {
    const uint32_t number = runs_.find(names[begin], parent);
    if (number == RunTable::kNone) break;
    Run& run = runs_.run(number);
    if (run.last_match.load(std::memory_order_relaxed) != now) {
      run.last_match.store(now, std::memory_order_relaxed);
    }
    const uint32_t agreed = runs_.agreement(run, 0, names + begin, count - begin);
    if (agreed == 0) break;
    bool goes_on = false;
    runs_.for_each_holder(run, [&](uint64_t element) {
      const uint32_t rank = holder_rank(element);
      const uint32_t cut = std::min(holder_cut(element), agreed);
      if (cut == 0 || rank >= rank_limit) return;
      const uint32_t place = places[rank];
      const bool known = place < found && ranks[place] == rank;
      if (begin == 0 && !known) {
        ranks[found] = rank;
        blocks[found] = cut;
        places[rank] = found++;
      } else if (known && blocks[place] == begin) {
        blocks[place] = begin + cut;
      } else {
        return;
      }
      goes_on |= cut == agreed;
    });
    if (!goes_on) break;
    begin += agreed;
    parent = runs_.block(run, agreed - 1);
  }
  return found;
}

}  // namespace kvasir
