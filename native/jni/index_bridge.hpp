// Prefix indexes for Java, passed as their addresses. The Java side checks the arguments and
// serialises changes.
#pragma once

#include "guarded.hpp"
#include "kvasir/prefix_index.hpp"

// An address, or a status of guarded.hpp.
inline int64_t kvasir_index_create(int format, int64_t max_bytes) noexcept {
  return kvasir::guarded([&] {
    return new kvasir::PrefixIndex(static_cast<kvasir::HashFormat>(format),
                                   static_cast<uint64_t>(max_bytes));
  });
}

inline void kvasir_index_destroy(kvasir::PrefixIndex* index) noexcept { delete index; }

// In the result of kvasir_index_store: shed() must follow.
constexpr int64_t kShedNext = 16;

// A ChangeStatus, or kShedNext more; negative for a status of guarded.hpp. One of the two arrays of
// hashes is null.
inline int64_t kvasir_index_store(kvasir::PrefixIndex* index, int rank, bool root,
                                  int64_t parent_handle, int64_t root_hash, const uint64_t* handles,
                                  const uint64_t* local_hashes, const uint64_t* sequence_hashes,
                                  int count) noexcept {
  return kvasir::guarded([&] {
    const kvasir::ChangeStatus status =
        index->store(static_cast<uint32_t>(rank), root, static_cast<uint64_t>(parent_handle),
                     static_cast<uint64_t>(root_hash), handles, local_hashes, sequence_hashes,
                     static_cast<uint32_t>(count));
    return static_cast<int64_t>(status) | (index->is_over() ? kShedNext : 0);
  });
}

inline int64_t kvasir_index_shed(kvasir::PrefixIndex* index) noexcept {
  return kvasir::guarded([&] { index->shed(); });
}

// A ChangeStatus.
inline int64_t kvasir_index_remove(kvasir::PrefixIndex* index, int rank, const uint64_t* handles,
                                   int count) noexcept {
  return kvasir::guarded([&] {
    return index->remove(static_cast<uint32_t>(rank), handles, static_cast<uint32_t>(count));
  });
}

// A ChangeStatus, or kShedNext more; negative for a status of guarded.hpp.
inline int64_t kvasir_index_alias(kvasir::PrefixIndex* index, int rank, const uint64_t* handles,
                                  const uint64_t* of, int count) noexcept {
  return kvasir::guarded([&] {
    const kvasir::ChangeStatus status =
        index->alias(static_cast<uint32_t>(rank), handles, of, static_cast<uint32_t>(count));
    return static_cast<int64_t>(status) | (index->is_over() ? kShedNext : 0);
  });
}

// Writes the handles that are known, and returns how many they are.
inline int kvasir_index_known(const kvasir::PrefixIndex* index, int rank, const uint64_t* handles,
                              int count, uint64_t* found) noexcept {
  return static_cast<int>(
      index->known(static_cast<uint32_t>(rank), handles, static_cast<uint32_t>(count), found));
}

// Writes as many handles and sequence hashes of their blocks as the rank has memberships.
inline void kvasir_index_list(const kvasir::PrefixIndex* index, int rank, uint64_t* handles,
                              uint64_t* names) noexcept {
  index->list(static_cast<uint32_t>(rank), handles, names);
}

// Whether the handle is known; writes the sequence hash of its block.
inline bool kvasir_index_find(const kvasir::PrefixIndex* index, int rank, int64_t handle,
                              uint64_t* name) noexcept {
  return index->find(static_cast<uint32_t>(rank), static_cast<uint64_t>(handle), name);
}

inline int64_t kvasir_index_clear(kvasir::PrefixIndex* index, int rank) noexcept {
  return kvasir::guarded([&] { index->clear(static_cast<uint32_t>(rank)); });
}

inline int64_t kvasir_index_match(kvasir::PrefixIndex* index, const uint64_t* names, int count,
                                  int rank_limit, int* ranks, int* blocks) noexcept {
  return kvasir::guarded([&] {
    return index->match(names, static_cast<uint32_t>(count), static_cast<uint32_t>(rank_limit),
                        reinterpret_cast<uint32_t*>(ranks), reinterpret_cast<uint32_t*>(blocks));
  });
}

// Writes the words of IndexCounts.
inline void kvasir_index_counts(const kvasir::PrefixIndex* index, uint64_t* words) noexcept {
  const kvasir::IndexCounts counts = index->counts();
  words[0] = counts.memberships;
  words[1] = counts.distinct_blocks;
  words[2] = counts.runs;
  words[3] = counts.bytes;
  words[4] = counts.evicted_memberships;
}

inline int64_t kvasir_index_memberships(const kvasir::PrefixIndex* index, int rank) noexcept {
  return static_cast<int64_t>(index->memberships(static_cast<uint32_t>(rank)));
}
