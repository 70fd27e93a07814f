// Directories and their mirrors for Java, passed as their addresses.
#pragma once

#include "kvasir/directory_mirror.hpp"

inline void kvasir_directory_probe(const kvasir::Directory* directory, const uint64_t* hashes,
                                   const uint32_t* offsets, int prompts, int* matched, int first) {
  kvasir::probe(&directory, 1, hashes, offsets, static_cast<uint32_t>(prompts),
                reinterpret_cast<uint32_t*>(matched + first));
}

inline void kvasir_directories_probe(const kvasir::Directory* const* directories,
                                     int directory_count, const uint64_t* hashes,
                                     const uint32_t* offsets, int prompts, uint32_t* matched) {
  kvasir::probe(directories, static_cast<uint32_t>(directory_count), hashes, offsets,
                static_cast<uint32_t>(prompts), matched);
}

inline const kvasir::Bucket* kvasir_directory_buckets(const kvasir::Directory* directory) {
  return directory->buckets;
}

inline int64_t kvasir_directory_bytes(int capacity_blocks) {
  return static_cast<int64_t>(kvasir::directory_buckets(static_cast<uint64_t>(capacity_blocks)) *
                              sizeof(kvasir::Bucket));
}

inline kvasir::DirectoryMirror* kvasir_mirror_create(int capacity_blocks) {
  return new kvasir::DirectoryMirror(static_cast<uint32_t>(capacity_blocks));
}

inline void kvasir_mirror_destroy(kvasir::DirectoryMirror* mirror) { delete mirror; }

inline const kvasir::Directory* kvasir_mirror_directory(const kvasir::DirectoryMirror* mirror) {
  return &mirror->view();
}

inline const kvasir::MirrorState* kvasir_mirror_state(const kvasir::DirectoryMirror* mirror) {
  return &mirror->state();
}

inline void kvasir_mirror_follow(kvasir::DirectoryMirror* mirror, const kvasir::EventRingHead* ring,
                                 int event_capacity) {
  mirror->follow(ring, static_cast<uint32_t>(event_capacity));
}

inline void kvasir_mirror_add(kvasir::DirectoryMirror* mirror, const int64_t* hashes, int first,
                              int count) {
  mirror->add(reinterpret_cast<const uint64_t*>(hashes) + first, static_cast<uint32_t>(count));
}

inline bool kvasir_mirror_replace(kvasir::DirectoryMirror* mirror, const kvasir::Bucket* buckets,
                                  int64_t next_event) {
  return mirror->replace(buckets, static_cast<uint64_t>(next_event));
}
