// The runs of a prefix index: their hashes, holders and beginnings. prefix_index.hpp describes
// their purpose and why readers may run concurrently with the writer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kvasir/paged_arena.hpp"
#include "kvasir/platform.hpp"
#include "kvasir/reader_epochs.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

constexpr uint32_t kGranuleNames = 7;

// A block's number is 8 * its granule's number + its index in it.
struct alignas(64) Granule {
  uint32_t run;
  uint32_t base;  // offset in the run of the first name
  uint64_t names[kGranuleNames];
};

// A holder's element: rank + 1 in the upper half, then kUneven, then the cut.
constexpr uint64_t kUnevenBit = 1ull << 31;
constexpr uint64_t holder_element(uint32_t rank, bool uneven, uint32_t cut) {
  return (static_cast<uint64_t>(rank) + 1) << 32 | (uneven ? kUnevenBit : 0) | cut;
}
constexpr uint32_t holder_rank(uint64_t element) {
  return static_cast<uint32_t>(element >> 32) - 1;
}
constexpr bool holder_uneven(uint64_t element) { return (element & kUnevenBit) != 0; }
constexpr uint32_t holder_cut(uint64_t element) {
  return static_cast<uint32_t>(element & (kUnevenBit - 1));
}

struct alignas(64) Run {
  // 0: none. Upper bit clear: the only holder's element. Else kArray | class << 32 | number.
  std::atomic<uint64_t> holders;
  // The only granule's number, or kArray | class << 32 | number of an array of granules' numbers.
  std::atomic<uint64_t> granules;
  uint64_t shortened;  // epoch of the last shortening; 0: never
  std::atomic<uint32_t> length;
  std::atomic<uint32_t> last_match;  // lower half of an epoch
  uint32_t parent;      // number of the block before the first; kNoParent: starts a prompt
  uint32_t depth;       // blocks before the first
  uint32_t successors;  // runs that follow one of its blocks
  uint32_t needed;      // upper bound of the blocks that they need
  uint32_t live;        // holders
  uint32_t mark;        // used by the writer during one walk
};
static_assert(sizeof(Granule) == 64 && sizeof(Run) == 64, "one cache line each");

class RunTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kNoParent = UINT32_MAX;

  RunTable();
  ~RunTable();

  ReaderEpochs& epochs() { return epochs_; }

  // ---- readers in an epoch, and the writer ----

  Run& run(uint32_t number) const { return *static_cast<Run*>(runs_.at(number)); }
  const Granule& granule_of(uint32_t block) const { return granule(block >> 3); }
  uint64_t name(uint32_t block) const { return granule_of(block).names[block & 7]; }
  KVASIR_PREFETCHES void prefetch_block(uint32_t block) const {
    prefetch(granules_.at(block >> 3));
  }
  // The number of a run's block; the offset is below its length.
  uint32_t block(const Run& run, uint32_t offset) const {
    return granule_number(run, offset / kGranuleNames) << 3 | offset % kGranuleNames;
  }

  void blocks(const Run& run, uint32_t offset, uint32_t count, uint32_t* numbers) const;

  // The run that starts with a hash after a block, or kNone.
  uint32_t find(uint64_t name, uint32_t parent) const;

  // How many of `count` hashes equal the run's from offset `from` on, within the run's length.
  uint32_t agreement(const Run& run, uint32_t from, const uint64_t* names, uint32_t count) const;

  // Calls f(element) for each holder.
  template <typename F>
  void for_each_holder(const Run& run, F f) const {
    const uint64_t word = run.holders.load(std::memory_order_acquire);
    if (!(word & kArray)) {
      if (word != 0) f(word);
      return;
    }
    const HolderArray& array = holder_array(word);
    const uint32_t count = array.count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t element = array.elements[i].load(std::memory_order_acquire);
      if (element != 0) f(element);
    }
  }

  // ---- the writer; allocation failure throws std::bad_alloc without effect ----

  // Creates a run of `count` hashes, at least 1, that does not exist yet.
  uint32_t create(uint32_t parent, uint32_t depth, const uint64_t* names, uint32_t count);
  // Extends a run in place by as many of the hashes as fit. Returns how many.
  uint32_t extend(uint32_t number, const uint64_t* names, uint32_t count);
  // Shortens a run to at least 1 block.
  void shorten(uint32_t number, uint32_t length);
  // Removes a run without holders and successors.
  void remove(uint32_t number);

  // A rank's element in a run, or null. Valid until the run's holders change.
  std::atomic<uint64_t>* holder(Run* run, uint32_t rank) const;
  std::atomic<uint64_t>* add_holder(Run* run, uint32_t rank);
  void remove_holder(Run* run, uint32_t rank);

  // Calls f(number) for every run.
  template <typename F>
  void for_each_run(F f) const {
    for (uint64_t i = 0; i <= beginnings_->mask; ++i) {
      const uint64_t slot = beginnings_->slots[i].load(std::memory_order_relaxed);
      if (slot != 0 && slot != kGone) f(static_cast<uint32_t>(slot) - 1);
    }
  }

  uint64_t count() const { return count_; }
  uint64_t bytes() const;
  // Bytes of runs, granules and arrays in use.
  uint64_t used_bytes() const { return used_bytes_; }

  // Ends an epoch if anything was unlinked, and reuses memory that no reader can see any more.
  void reclaim();

 private:
  static constexpr uint64_t kArray = 1ull << 63;
  static constexpr uint64_t kGone = UINT32_MAX;
  static constexpr uint32_t kClasses = 16;
  static constexpr uint32_t kSmallestArrayBytes = 32;

  struct HolderArray {
    std::atomic<uint32_t> count;  // elements in use; some may be 0
    uint32_t unused;
    std::atomic<uint64_t> elements[1];  // the capacity of the class
  };

  // Open addressing: the upper half of a hash, and run + 1. Equal halves are resolved by the run.
  struct Beginnings {
    explicit Beginnings(uint64_t size) : mask(size - 1), slots(size) {}
    const uint64_t mask;
    ZeroedArray<std::atomic<uint64_t>> slots;
    uint64_t used = 0;  // slots that are not 0
  };

  enum class Kind : uint8_t { kGranule, kRun, kArrayMemory };
  struct Retired {
    uint64_t epoch;
    uint32_t number;
    Kind kind;
    uint8_t array_class;
  };

  PagedArena& arena_of(Kind kind, uint32_t array_class) {
    return kind == Kind::kGranule ? granules_ : kind == Kind::kRun ? runs_ : *arrays_[array_class];
  }
  Granule& granule(uint32_t number) const { return *static_cast<Granule*>(granules_.at(number)); }
  static uint32_t class_of(uint64_t word) { return static_cast<uint32_t>(word >> 32) & 0xFF; }
  void* array(uint64_t word) const {
    return arrays_[class_of(word)]->at(static_cast<uint32_t>(word));
  }
  HolderArray& holder_array(uint64_t word) const { return *static_cast<HolderArray*>(array(word)); }
  static uint32_t holder_room(uint32_t array_class) {
    return (kSmallestArrayBytes << array_class) / 8 - 1;
  }
  static uint32_t granule_room(uint64_t word) {
    return word & kArray ? (kSmallestArrayBytes << class_of(word)) / 4 : 1;
  }
  uint32_t granule_number(const Run& run, uint32_t index) const {
    const uint64_t word = run.granules.load(std::memory_order_acquire);
    return word & kArray ? static_cast<const uint32_t*>(array(word))[index]
                         : static_cast<uint32_t>(word);
  }

  static uint64_t place_of(uint64_t name) {
    return (name ^ name >> 29) * 0x9E3779B97F4A7C15u >> 20;
  }

  uint32_t take(PagedArena* arena);
  uint64_t take_array(uint32_t array_class);
  bool grow_granules(Run* run, uint32_t used, uint32_t wanted);
  void rebuild_holders(Run* run, uint32_t room);
  void insert_beginning(uint64_t name, uint32_t number);
  void erase_beginning(uint64_t name, uint32_t number);
  void rebuild_beginnings(uint64_t runs);
  void retire(Kind kind, uint32_t number, uint32_t array_class = 0);
  void retire_array(uint64_t word) {
    retire(Kind::kArrayMemory, static_cast<uint32_t>(word), class_of(word));
  }

  ReaderEpochs epochs_;
  PagedArena granules_;
  PagedArena runs_;
  std::vector<std::unique_ptr<PagedArena>> arrays_;  // by class
  std::unique_ptr<Beginnings> beginnings_;
  std::atomic<const Beginnings*> shown_beginnings_;
  std::deque<std::pair<uint64_t, std::unique_ptr<Beginnings>>> old_beginnings_;
  std::deque<Retired> retired_;
  uint64_t count_ = 0;
  uint64_t used_bytes_ = 0;
  bool something_went_ = false;
};

}  // namespace kvasir
