// The named block hash formats, for host and device, over plain arrays.
//
// A block of tokens has a local hash (its own tokens) and a sequence hash (itself and everything
// before it). A format says how both are made and how a scope (LoRA adapter, cache salt) enters:
//
// kvasir      local    = XXH3-64 of the tokens as little-endian 32-bit words, without a seed
//             sequence = kvasir_mix(parent, local); the parent of block 0 encodes the scope
// dynamo      local    = XXH3-64 of the same bytes with seed 1337 (+ the adapter's id)
//             sequence = local for block 0, else XXH3-64 of (parent, local) with seed 1337
// trtllm-v1   sequence = v1 block key of TensorRT-LLM: every token folded into a seed that is made
//             of the block's length and its parent; local = the same with parent 0 and no scope
//
// In the kvasir format only sequence hashes include the scope: match by them.
//
// Collision resistance of the kvasir chain. kvasir_mix(p, l) = F(p ^ l), where F is a bijection of
// 64-bit words (Jon Maiga's xmxmx). For a fixed parent, different local hashes give different
// sequence hashes; for a fixed local hash, so do different parents. Two prompts that differ in
// exactly one block's local hash therefore never share a later sequence hash, and a scope persists
// along a common prompt. When parent and local hash both differ, F(p ^ l) = F(p' ^ l') requires p ^
// p' = l ^ l'. The left side is a difference of outputs of F, the right side a difference of XXH3
// outputs for different tokens. They agree only by chance, once in 2^64 pairs, so n chained blocks
// collide with a probability of about n^2 / 2^65 (10^9 blocks: 3 in 100). A linear chain, sum or
// xor is not sufficient, because reordered or repeated blocks cancel. F avoids this: flipping any
// bit of parent or local flips every bit of the result with a probability that the tests cannot
// distinguish from 1/2, and they find no effect of order or repetition. XXH3 itself loses half a
// lane of four tokens when a factor of its product is zero. This requires the upper token of a pair
// to equal the upper half of the secret at that offset, which is always above 2^24, larger than any
// vocabulary. None of this protects against deliberate collisions; code that reuses a block must
// compare its tokens and its scope.
#pragma once

#include "kvasir/xxh3_core.hpp"

namespace kvasir {

// Values match Java's HashFormat.
enum class HashFormat : int32_t { kKvasir = 0, kDynamo = 1, kTrtllmV1 = 2 };

constexpr uint64_t kScopeLora = 1;
constexpr uint64_t kScopeSalt = 2;

// The scope that must be equal, in addition to the tokens, to share KV. An absent id is zero; a
// present id may be zero.
struct HashScope {
  uint64_t mask;  // kScopeLora, kScopeSalt
  uint64_t lora_id;
  uint64_t salt_id;
};

// The parent mix of the kvasir format: a bijection of either argument for a fixed other one.
KVASIR_HD uint64_t kvasir_mix(uint64_t parent, uint64_t local) {
  constexpr uint64_t kMultiplier = 0x0E9846AF9B1A615Du;
  uint64_t x = parent ^ local;
  x = (x ^ x >> 32) * kMultiplier;
  x = (x ^ x >> 32) * kMultiplier;
  return x ^ x >> 28;
}

class KvasirBlockHash {
 public:
  KVASIR_HD explicit KvasirBlockHash(const HashScope& scope) : root_(kUnscoped) {
    if (scope.mask == 0) return;
    root_ = kvasir_mix(root_, scope.mask);
    root_ = kvasir_mix(root_, scope.lora_id);
    root_ = kvasir_mix(root_, scope.salt_id);
  }

  KVASIR_HD uint64_t root() const { return root_; }

  KVASIR_HD_INLINED void hash(const uint32_t* tokens, int count, bool, uint64_t parent,
                              uint64_t* local, uint64_t* sequence) const {
    *local = xxh3_64(tokens, 4 * static_cast<size_t>(count));
    *sequence = chain(false, parent, *local);
  }

  // A block's sequence hash from its local hash.
  KVASIR_HD uint64_t chain(bool, uint64_t parent, uint64_t local) const {
    return kvasir_mix(parent, local);
  }

 private:
  static constexpr uint64_t kUnscoped = 0x243F6A8885A308D3u;  // the fraction of pi

  uint64_t root_;
};

// Dynamo identifies adapters by name: an adapter's id is the unseeded XXH3-64 of its name, and id 0
// means "no adapter". A present zero, which does not occur in practice, is therefore replaced by
// another number. Dynamo's rule has no salt: here a salt replaces the seed by XXH3-64 of (seed,
// salt) with seed 1337, which changes every local hash of the scope, as an adapter does.
class DynamoBlockHash {
 public:
  KVASIR_HD explicit DynamoBlockHash(const HashScope& scope) : seed_(kSeed) {
    if (scope.mask & kScopeLora) {
      seed_ += scope.lora_id != 0 ? scope.lora_id : xxh3_64_pair(0, 0, kSeed);
    }
    if (scope.mask & kScopeSalt) seed_ = xxh3_64_pair(seed_, scope.salt_id, kSeed);
    xxh3_derive_secret(seed_, secret_);
  }

  KVASIR_HD uint64_t root() const { return 0; }

  KVASIR_HD_INLINED void hash(const uint32_t* tokens, int count, bool first, uint64_t parent,
                              uint64_t* local, uint64_t* sequence) const {
    *local = xxh3_64_derived(tokens, 4 * static_cast<size_t>(count), seed_, secret_);
    *sequence = chain(first, parent, *local);
  }

  KVASIR_HD uint64_t chain(bool first, uint64_t parent, uint64_t local) const {
    return first ? local : xxh3_64_pair(parent, local, kSeed);
  }

 private:
  static constexpr uint64_t kSeed = 1337;

  uint64_t seed_;
  uint64_t secret_[kXxh3SecretWords];
};

// A salt enters blocks whose parent is 0, which is the first block; an adapter enters every block.
class TrtllmV1BlockHash {
 public:
  KVASIR_HD explicit TrtllmV1BlockHash(const HashScope& scope) : scope_(scope) {}

  KVASIR_HD uint64_t root() const { return 0; }

  KVASIR_HD_INLINED void hash(const uint32_t* tokens, int count, bool, uint64_t parent,
                              uint64_t* local, uint64_t* sequence) const {
    uint64_t own = static_cast<uint64_t>(count);
    uint64_t chained = start(count, parent);
    for (int i = 0; i < count; ++i) {
      const uint64_t word = spread32(tokens[i]);
      own = fold(own, word);
      chained = fold(chained, word);
    }
    *local = own;
    *sequence = finish(chained);
  }

  // The key of a single block, full or partial.
  KVASIR_HD uint64_t key(const uint32_t* tokens, int count, uint64_t parent) const {
    uint64_t chained = start(count, parent);
    for (int i = 0; i < count; ++i) chained = fold(chained, spread32(tokens[i]));
    return finish(chained);
  }

 private:
  static constexpr uint64_t kMultiplier = 0xBF58476D1CE4E5B9u;
  static constexpr uint64_t kOffset = 0x9E3779B9u;

  KVASIR_HD uint64_t start(int count, uint64_t parent) const {
    const uint64_t seed = static_cast<uint64_t>(count) ^ parent * kMultiplier;
    const bool salted = parent == 0 && (scope_.mask & kScopeSalt);
    return salted ? fold(seed, spread64(scope_.salt_id)) : seed;
  }

  KVASIR_HD uint64_t finish(uint64_t seed) const {
    return scope_.mask & kScopeLora ? fold(seed, spread64(scope_.lora_id)) : seed;
  }

  KVASIR_HD static uint64_t fold(uint64_t seed, uint64_t word) {
    return seed ^ (word + (seed << 6) + (seed >> 2));
  }

  KVASIR_HD static uint64_t spread32(uint32_t x) {
    x = (x >> 16 ^ x) * 0x45D9F3Bu;
    x = (x >> 16 ^ x) * 0x45D9F3Bu;
    return static_cast<uint32_t>((x >> 16 ^ x) + static_cast<uint32_t>(kOffset));
  }

  KVASIR_HD static uint64_t spread64(uint64_t x) {
    x = (x ^ x >> 30) * kMultiplier;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (x ^ x >> 31) + kOffset;
  }

  HashScope scope_;
};

// Blocks of kTokens tokens, or of `tokens_per_block` where kTokens is 0.
template <int kTokens, typename Format>
KVASIR_HD void hash_blocks_of(const Format& format, const uint32_t* tokens, int tokens_per_block,
                              int from, int to, uint64_t* local, uint64_t* sequence) {
  const int count = kTokens > 0 ? kTokens : tokens_per_block;
  uint64_t parent = from > 0 ? sequence[from - 1] : format.root();
  for (int i = from; i < to; ++i) {
    const uint32_t* block = tokens + static_cast<size_t>(i) * static_cast<size_t>(count);
    format.hash(block, count, i == 0, parent, local + i, &parent);
    sequence[i] = parent;
  }
}

// Hashes the full blocks [from, to) of a sequence under one format. `tokens`, `local` and
// `sequence` begin at block 0; the chain continues from sequence[from - 1].
template <typename Format>
KVASIR_HD void hash_blocks(const Format& format, const uint32_t* tokens, int tokens_per_block,
                           int from, int to, uint64_t* local, uint64_t* sequence) {
  switch (tokens_per_block) {
    case 16:
      hash_blocks_of<16>(format, tokens, 16, from, to, local, sequence);
      break;
    case 32:
      hash_blocks_of<32>(format, tokens, 32, from, to, local, sequence);
      break;
    case 64:
      hash_blocks_of<64>(format, tokens, 64, from, to, local, sequence);
      break;
    case 128:
      hash_blocks_of<128>(format, tokens, 128, from, to, local, sequence);
      break;
    default:
      hash_blocks_of<0>(format, tokens, tokens_per_block, from, to, local, sequence);
  }
}

// As above, with a runtime format.
KVASIR_HD void hash_blocks(HashFormat format, const HashScope& scope, const uint32_t* tokens,
                           int tokens_per_block, int from, int to, uint64_t* local,
                           uint64_t* sequence) {
  switch (format) {
    case HashFormat::kKvasir:
      hash_blocks(KvasirBlockHash(scope), tokens, tokens_per_block, from, to, local, sequence);
      break;
    case HashFormat::kDynamo:
      hash_blocks(DynamoBlockHash(scope), tokens, tokens_per_block, from, to, local, sequence);
      break;
    case HashFormat::kTrtllmV1:
      hash_blocks_of<0>(TrtllmV1BlockHash(scope), tokens, tokens_per_block, from, to, local,
                        sequence);
      break;
  }
}

// Concatenated prompts: prompt p has the tokens [token_offsets[p], token_offsets[p + 1]) and its
// full blocks' hashes start at block_offsets[p].
struct HashBatch {
  const uint32_t* tokens;
  const int32_t* token_offsets;
  const int32_t* block_offsets;
  const HashScope* scopes;
  uint64_t* local;
  uint64_t* sequence;
};

// Hashes all full blocks of one prompt of a batch.
KVASIR_HD void hash_prompt(HashFormat format, int tokens_per_block, const HashBatch& batch,
                           int prompt) {
  const int32_t first = batch.token_offsets[prompt];
  const int blocks = (batch.token_offsets[prompt + 1] - first) / tokens_per_block;
  hash_blocks(format, batch.scopes[prompt], batch.tokens + first, tokens_per_block, 0, blocks,
              batch.local + batch.block_offsets[prompt],
              batch.sequence + batch.block_offsets[prompt]);
}

// TensorRT-LLM's rule for prompts: the last token is never hashed, a partial last block is.
KVASIR_HD int trtllm_prompt_blocks(int token_count, int tokens_per_block) {
  return token_count <= 1 ? 0 : (token_count - 2) / tokens_per_block + 1;
}

// Writes trtllm_prompt_blocks() v1 block keys of a prompt.
KVASIR_HD void trtllm_v1_prompt_keys(const HashScope& scope, const uint32_t* tokens,
                                     int token_count, int tokens_per_block, uint64_t* keys) {
  const TrtllmV1BlockHash format(scope);
  uint64_t parent = format.root();
  const int blocks = trtllm_prompt_blocks(token_count, tokens_per_block);
  for (int i = 0; i < blocks; ++i) {
    const int first = i * tokens_per_block;
    const int left = token_count - 1 - first;
    parent = format.key(tokens + first, left < tokens_per_block ? left : tokens_per_block, parent);
    keys[i] = parent;
  }
}

}  // namespace kvasir
