// The kernel of the stamp engine (CudaKvStampEngine.java), in the KV memory of a pool's blocks.
// Only tests have it: a module with the product's kernels and this one is tests/gpu/native/module.

#include "../../native/src/cuda/device_primitives.cuh"
#include "kv_stamp_core.hpp"

namespace kvasir {

// Writes the words of an entry's new tokens in up to 32 layers, one lane per layer. A word depends
// on the one before it and the one below it, so each lane runs one position behind the lane of the
// layer below.
KVASIR_DEVICE void warp_stamp(const KvSequence& kv, const KvStampEntry& entry,
                              const int32_t* tokens, uint32_t first_layer) {
  const uint32_t left = kv.layers - first_layer;
  const uint32_t lanes = left < 32 ? left : 32;
  const uint32_t layer = first_layer + lane();
  uint64_t word = entry.scope_word;
  if (entry.context_tokens > 0 && lane() < lanes) {
    word = *kv_word(kv, entry.context_tokens - 1, layer);
  }
  for (uint32_t step = 0; step < entry.new_tokens + lanes - 1; step++) {
    uint64_t below = __shfl_up_sync(kAllLanes, word, 1);
    const uint32_t index = step - lane();
    if (lane() < lanes && step >= lane() && index < entry.new_tokens) {
      const uint32_t position = entry.context_tokens + index;
      if (lane() == 0 && first_layer > 0) {
        below = *kv_word(kv, position, first_layer - 1);
      }
      word = kv_stamp(word, tokens[index], position, layer, below);
      *kv_word(kv, position, layer) = word;
    }
  }
  __syncwarp();
}

// Folds the words of a sequence in order. Lanes load with coalesced reads; the chain itself is
// serial, and every lane computes it.
KVASIR_DEVICE uint64_t warp_fold(const KvSequence& kv, uint32_t length) {
  const uint64_t words = static_cast<uint64_t>(length) * kv.layers;
  uint64_t folded = length;
  for (uint64_t first = 0; first < words; first += 32) {
    const uint64_t index = first + lane();
    uint64_t word = 0;
    if (index < words) {
      word = *kv_word(kv, static_cast<uint32_t>(index / kv.layers),
                      static_cast<uint32_t>(index % kv.layers));
    }
    const int here = words - first < 32 ? static_cast<int>(words - first) : 32;
    for (int i = 0; i < here; i++) {
      folded = kv_fold(folded, __shfl_sync(kAllLanes, word, i));
    }
  }
  return folded;
}

}  // namespace kvasir

// One step: a warp per entry. `words` is the KV memory of all the pool's blocks. An entry writes
// blocks that only its own lease holds, and reads those and named blocks, which earlier steps
// wrote. O(tokens + layers) in layers / 32 rounds, and O(sequence x layers) for an output token.
extern "C" __global__ void kvasir_kv_stamp(const kvasir::DevicePool* memory, uint64_t* words,
                                           uint32_t layers, uint32_t vocabulary,
                                           const int32_t* tokens, kvasir::KvStampEntry* entries,
                                           uint32_t count) {
  using namespace kvasir;
  const DevicePool& pool = *memory;
  for (uint32_t i = warp_in_grid(); i < count; i += warps_in_grid()) {
    const KvStampEntry entry = entries[i];
    const KvSequence kv{words, block_table(pool, entry.lease), pool.shape.tokens_per_block, layers};
    for (uint32_t layer = 0; layer < layers; layer += 32) {
      warp_stamp(kv, entry, tokens + entry.first_token, layer);
    }
    if (entry.produces != 0) {
      const uint64_t folded = warp_fold(kv, entry.context_tokens + entry.new_tokens);
      if (lane() == 0) {
        entries[i].token = kv_token(folded, vocabulary);
      }
    }
  }
}
