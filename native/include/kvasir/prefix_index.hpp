// Tracks which rank holds which prefix. Events identify blocks by handles, opaque numbers that are
// valid for one rank, and carry each block's local hash or its sequence hash.
//
// Sequence hashes are trusted to identify everything up to the block. An engine that violates this
// gets wrong matches, but no other harm.
//
// Chains, not blocks. Prompts with a common prefix share blocks, and most blocks have one
// successor. The index therefore stores *runs*: a run is a piece of a chain, with the sequence
// hashes of its blocks in order. A run starts a prompt, or follows any block of another run;
// nothing is split when prompts diverge. Two prompts with the same first 100 blocks are two runs,
// the second of which follows block 99 of the first. State kept per run costs no memory per block.
//
// Holders. A run lists its *holders*: for each rank the number of leading blocks of the run that
// the rank holds, the *cut*. The cut alone is exact while the rank's blocks in the run are
// contiguous and have one handle each, which is how engines fill and empty their caches. Otherwise
// the rank keeps, for that run, the number of handles of each block, and the cut is the first block
// without one. Blocks after a gap stay recorded; when the gap is filled, the cut jumps. A match
// therefore needs no scan over blocks to be exact: it walks the runs of the prompt, finds by
// bisection how far the hashes of each run agree, and credits every rank that got this far with
// min(cut, agreement).
//
// Engine handles are kept per rank (HandleTable), 12 bytes a pair plus gaps. A handle maps to a
// block's number, which gives the run and the offset in it.
//
// Memory. Hashes are stored in granules of one cache line: seven hashes, and the run and offset of
// the first. Granules, runs and the arrays of larger runs are allocated from arenas by number and
// never move. A run is truncated after the last block that a holder or a successor needs; the
// memory behind it is freed.
//
// Concurrency. One writer at a time (enforced by the caller); any number of readers, which never
// wait. Readers enter an epoch (ReaderEpochs), and the writer does not reuse memory that a reader
// might still see: an unlinked run, granule or array is retired, and a shortened run is not
// extended in place, until all readers of that epoch have left. During a look-up, numbers therefore
// keep their meaning, and only these change:
//   - a run's length, which only grows over slots not in use before: hashes are written first, the
//     length is stored with release, the reader loads it with acquire;
//   - a holder's element, one word of rank and cut, stored with release after the hashes that it
//     covers are visible (they were before the rank's blocks got their handles);
//   - a list of holders, which is appended to after its published count, or replaced as a whole;
//   - the table of run beginnings: a slot is one word, and its target is verified.
// A cut therefore always covers hashes that the reader sees unchanged. A look-up credits a rank
// with a block only if the rank held that block, and all before it in that run, at one moment of
// the look-up. For a rank whose blocks do not change during the look-up the answer is exact.
// Otherwise its answer may combine different moments for different runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kvasir/block_hash_core.hpp"
#include "kvasir/handle_table.hpp"
#include "kvasir/paged_arena.hpp"
#include "kvasir/reader_epochs.hpp"
#include "kvasir/run_table.hpp"

namespace kvasir {

// Values match Java's ChangeStatus.
enum class ChangeStatus : int32_t {
  kApplied = 0,
  kUnchanged = 1,
  kUnknownParent = 2,
  kInvalidSequence = 3,
  kUnknownBlock = 4,
  kFull = 5,
};

// Mirrored by NativePrefixIndex.java, in words.
struct IndexCounts {
  uint64_t memberships;
  uint64_t distinct_blocks;
  uint64_t runs;
  uint64_t bytes;
  uint64_t evicted_memberships;
};

class PrefixIndex {
 public:
  static constexpr uint32_t kNoBlock = HandleTable::kNoBlock;

  // `format` defines how local hashes are chained. trtllm-v1 does not chain them: such an index
  // accepts only sequence hashes.
  PrefixIndex(HashFormat format, uint64_t max_bytes);
  ~PrefixIndex();
  PrefixIndex(const PrefixIndex&) = delete;
  PrefixIndex& operator=(const PrefixIndex&) = delete;

  // ---- the writer ----

  // Atomic. One of the two arrays of hashes is null. `root_hash` is the initial parent for a root's
  // local hashes, 0 for the format's default; sequence hashes do not need it.
  ChangeStatus store(uint32_t rank, bool root, uint64_t parent_handle, uint64_t root_hash,
                     const uint64_t* handles, const uint64_t* local_hashes,
                     const uint64_t* sequence_hashes, uint32_t count);
  // Holds blocks under further handles: handles[i] names the block of of[i] from now on. Skips
  // those whose block is unknown.
  ChangeStatus alias(uint32_t rank, const uint64_t* handles, const uint64_t* of, uint32_t count);
  // Unknown handles are skipped.
  ChangeStatus remove(uint32_t rank, const uint64_t* handles, uint32_t count);
  void clear(uint32_t rank);

  // Whether chains and handles exceed `max_bytes`. Then shed() must be called: it evicts the least
  // recently matched chains of the rank with the most blocks until they fit.
  bool is_over() const { return used_bytes() > max_bytes_; }
  void shed();

  // O(runs and their holders).
  IndexCounts counts() const;
  uint64_t memberships(uint32_t rank) const;

  // Writes those of `count` handles that the rank knows, and returns how many they are.
  uint32_t known(uint32_t rank, const uint64_t* handles, uint32_t count, uint64_t* found) const;

  // Writes memberships(rank) handles, and the sequence hashes of their blocks.
  void list(uint32_t rank, uint64_t* handles, uint64_t* names) const;

  // Writes the sequence hash of the block that a rank's handle names; false if there is none.
  bool find(uint32_t rank, uint64_t handle, uint64_t* name) const;

  // ---- readers ----

  // Ranks below `rank_limit` that match at least the first of `count` hashes, and their matched
  // blocks. Returns the number of ranks. Both arrays have room for rank_limit.
  uint32_t match(const uint64_t* names, uint32_t count, uint32_t rank_limit, uint32_t* ranks,
                 uint32_t* blocks);

 private:
  static constexpr uint32_t kAhead = 8;  // prefetch distance, in handles

  struct Segment;
  // A rank's blocks in one run with gaps or several handles.
  struct Uneven {
    std::vector<uint32_t> handles;  // by offset; the last one is not 0
    uint32_t held = 0;              // offsets with at least one
    uint64_t total = 0;
  };
  struct Rank {
    HandleTable table;
    std::unordered_map<uint32_t, Uneven> uneven;  // by run
  };

  Rank* rank_of(uint32_t rank) const { return rank < ranks_.size() ? ranks_[rank].get() : nullptr; }
  Rank& make_rank(uint32_t rank);
  bool repeats(bool root, uint64_t parent_handle, const uint64_t* handles, uint32_t count);
  void chain(uint64_t parent_name, bool first, const uint64_t* local_hashes, uint32_t count);
  void place(uint32_t parent, uint32_t count);
  void abandon_places(uint32_t rank);
  void append(Segment* segment, uint32_t run_number, uint32_t from, uint32_t count);
  bool hold(uint32_t rank, Rank* owner, const Segment& segment, const uint64_t* handles);
  void hold_one(uint32_t rank, Rank* owner, uint32_t run, uint32_t offset);
  void drop(uint32_t rank, Rank* owner, uint32_t run, const uint32_t* blocks, uint32_t count);
  void drop_one(uint32_t rank, Rank* owner, uint32_t run, uint32_t offset);
  Uneven& uneven_of(Rank* owner, uint32_t run, uint32_t cut);
  void refresh_cut(uint32_t rank, Rank* owner, uint32_t run, const Uneven& uneven, uint32_t from);
  void forget_rank(uint32_t rank, Rank* owner);
  void settle(uint32_t run);
  void settle_all();
  uint32_t needed_length(const Run& run, uint32_t number) const;
  uint32_t largest_rank() const;
  void mark_oldest(uint32_t rank);
  void erase_marked(Rank* owner);
  void finish();
  uint64_t bytes() const;
  uint64_t used_bytes() const;

  static uint32_t offset_in(const Granule& granule, uint32_t block) {
    return granule.base + (block & 7);
  }
  uint32_t offset_of(uint32_t block) const { return offset_in(runs_.granule_of(block), block); }
  uint32_t run_of(uint32_t block) const { return runs_.granule_of(block).run; }

  const HashFormat format_;
  const uint64_t max_bytes_;
  RunTable runs_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  uint64_t table_bytes_ = 0;
  uint64_t memberships_ = 0;
  uint64_t evicted_ = 0;

  // Scratch of the current change.
  std::vector<uint64_t> names_;
  std::vector<uint32_t> blocks_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> touched_;
  struct Seen {
    uint64_t handle;
    uint64_t change;
  };
  std::vector<Seen> seen_;
  uint64_t change_ = 0;
};

}  // namespace kvasir
