// The words that KvStampEngine.java writes as KV and folds into output tokens, for host and device,
// bit for bit equal to Java's. KvStampEngine.java explains the construction.
#pragma once

#include "kvasir/platform.hpp"

namespace kvasir {

// One entry of a step, with its result. Mirrored by CudaKvStampEngine.java.
struct KvStampEntry {
  uint64_t scope_word;  // precedes the first position
  int32_t lease;
  uint32_t context_tokens;
  uint32_t new_tokens;
  uint32_t first_token;  // index of the new tokens in the step's array
  uint32_t produces;     // 1 to produce an output token
  int32_t token;         // result
};
static_assert(sizeof(KvStampEntry) == 32, "CudaKvStampEngine.java relies on it");

// A request's KV: the words of a block are contiguous, and within it those of a token's layers.
struct KvSequence {
  uint64_t* words;
  const uint32_t* table;
  uint32_t tokens_per_block;
  uint32_t layers;
};

constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;

// Mix64.java.
KVASIR_HD uint64_t kv_mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

KVASIR_HD uint64_t* kv_word(const KvSequence& kv, uint32_t position, uint32_t layer) {
  const uint64_t block = kv.table[position / kv.tokens_per_block];
  const uint64_t token = block * kv.tokens_per_block + position % kv.tokens_per_block;
  return kv.words + token * kv.layers + layer;
}

// The word of a position and layer. `before` is the same layer's word at the previous position, or
// the scope's word; `below` is this position's word in the layer below, unused in layer 0.
KVASIR_HD uint64_t kv_stamp(uint64_t before, int32_t token, uint32_t position, uint32_t layer,
                            uint64_t below) {
  uint64_t mixed = kv_mix(before + static_cast<uint64_t>(int64_t{token}));
  mixed = kv_mix(mixed + kGoldenRatio * position);
  mixed = kv_mix(mixed + layer);
  return layer == 0 ? mixed : kv_mix(mixed ^ below);
}

KVASIR_HD uint64_t kv_fold(uint64_t folded, uint64_t word) {
  return kv_mix(folded * kGoldenRatio + word);
}

KVASIR_HD int32_t kv_token(uint64_t folded, uint32_t vocabulary) {
  return static_cast<int32_t>((folded >> 32) * vocabulary >> 32);
}

}  // namespace kvasir
