// Block hashing for Java. The Java side checks the arguments.
#pragma once

#include "kvasir/block_hash_core.hpp"

inline void kvasir_hash_blocks(int32_t format, uint64_t scope_mask, uint64_t lora_id,
                               uint64_t salt_id, const uint32_t* tokens, int32_t tokens_per_block,
                               int32_t from, int32_t to, uint64_t* local,
                               uint64_t* sequence) noexcept {
  kvasir::hash_blocks(static_cast<kvasir::HashFormat>(format), {scope_mask, lora_id, salt_id},
                      tokens, tokens_per_block, from, to, local, sequence);
}

// The parent of a root block in the kvasir format.
inline uint64_t kvasir_hash_root(uint64_t scope_mask, uint64_t lora_id, uint64_t salt_id) noexcept {
  return kvasir::KvasirBlockHash({scope_mask, lora_id, salt_id}).root();
}

inline uint64_t kvasir_trtllm_v1_block_key(uint64_t scope_mask, uint64_t lora_id, uint64_t salt_id,
                                           uint64_t parent, const uint32_t* tokens, int32_t from,
                                           int32_t to) noexcept {
  return kvasir::TrtllmV1BlockHash({scope_mask, lora_id, salt_id})
      .key(tokens + from, to - from, parent);
}

inline void kvasir_trtllm_v1_prompt_keys(uint64_t scope_mask, uint64_t lora_id, uint64_t salt_id,
                                         const uint32_t* tokens, int32_t token_count,
                                         int32_t tokens_per_block, uint64_t* keys) noexcept {
  kvasir::trtllm_v1_prompt_keys({scope_mask, lora_id, salt_id}, tokens, token_count,
                                tokens_per_block, keys);
}

inline uint64_t kvasir_xxh3_64(const uint8_t* bytes, int32_t count, uint64_t seed) noexcept {
  return kvasir::xxh3_64(bytes, static_cast<size_t>(count), seed);
}
