// Directories and their mirrors for Java, passed as their addresses.
#pragma once

#include "guarded.hpp"
#include "kvasir/directory_mirror.hpp"

inline void kvasir_directory_probe(const kvasir::Directory* directory, const uint64_t* hashes,
                                   const uint32_t* offsets, int prompts, int* matched,
                                   int first) noexcept {
  kvasir::probe(&directory, 1, hashes, offsets, static_cast<uint32_t>(prompts),
                reinterpret_cast<uint32_t*>(matched + first));
}

inline void kvasir_directories_probe(const kvasir::Directory* const* directories,
                                     int directory_count, const uint64_t* hashes,
                                     const uint32_t* offsets, int prompts,
                                     uint32_t* matched) noexcept {
  kvasir::probe(directories, static_cast<uint32_t>(directory_count), hashes, offsets,
                static_cast<uint32_t>(prompts), matched);
}

// An address, or a status of guarded.hpp.
inline int64_t kvasir_mirror_create(int capacity_blocks) noexcept {
  return kvasir::guarded(
      [&] { return new kvasir::DirectoryMirror(static_cast<uint32_t>(capacity_blocks)); });
}

inline void kvasir_mirror_destroy(kvasir::DirectoryMirror* mirror) noexcept { delete mirror; }

inline const kvasir::Directory* kvasir_mirror_directory(
    const kvasir::DirectoryMirror* mirror) noexcept {
  return &mirror->view();
}

inline const kvasir::MirrorState* kvasir_mirror_state(
    const kvasir::DirectoryMirror* mirror) noexcept {
  return &mirror->state();
}

inline int64_t kvasir_mirror_follow(kvasir::DirectoryMirror* mirror,
                                    const kvasir::EventRingHead* ring,
                                    int event_capacity) noexcept {
  return kvasir::guarded([&] { mirror->follow(ring, static_cast<uint32_t>(event_capacity)); });
}

inline int64_t kvasir_mirror_add(kvasir::DirectoryMirror* mirror, const int64_t* hashes, int first,
                                 int count) noexcept {
  return kvasir::guarded([&] {
    mirror->add(reinterpret_cast<const uint64_t*>(hashes) + first, static_cast<uint32_t>(count));
  });
}
