// Block hashes of token batches that are already in device memory, bit for bit those of
// hash_prompt(). Two launches: local hashes, then the chains that need them.

#include "device_primitives.cuh"
#include "kvasir/block_hash_core.hpp"

namespace kvasir {

KVASIR_DEVICE int blocks_of(const HashBatch& batch, int tokens_per_block, int prompt) {
  return (batch.token_offsets[prompt + 1] - batch.token_offsets[prompt]) / tokens_per_block;
}

// The last prompt that begins at or before a block; offsets ascend.
KVASIR_DEVICE int prompt_of(const HashBatch& batch, int prompts, int64_t block) {
  int first = 0;
  int end = prompts;
  while (end - first > 1) {
    const int middle = first + (end - first) / 2;
    if (batch.block_offsets[middle] <= block) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

// The chain is computed by all lanes alike from local hashes that they load side by side.
template <typename Format>
KVASIR_DEVICE void warp_chain(const Format& format, const uint64_t* local, uint64_t* sequence,
                              int blocks) {
  uint64_t parent = format.root();
  for (int first = 0; first < blocks; first += 32) {
    const int own = first + static_cast<int>(lane());
    const uint64_t loaded = own < blocks ? local[own] : 0;
    uint64_t kept = 0;
    for (int i = 0; i < 32; i++) {
      parent = format.chain(first + i == 0, parent, __shfl_sync(kAllLanes, loaded, i));
      kept = first + i == own ? parent : kept;
    }
    if (own < blocks) {
      sequence[own] = kept;
    }
  }
}

}  // namespace kvasir

// Local hashes of the formats whose local hash stands for itself. A thread per block of tokens, in
// blocks of at most 256 threads, because one format keeps a table per thread;
// sequence hashes receive anything.
extern "C" __global__ void __launch_bounds__(256)
    kvasir_hash_local(kvasir::HashFormat format, int tokens_per_block, kvasir::HashBatch batch,
                      int prompts) {
  using namespace kvasir;
  if (format == HashFormat::kTrtllmV1 || prompts == 0) {
    return;
  }
  const int64_t end =
      int64_t{batch.block_offsets[prompts - 1]} + blocks_of(batch, tokens_per_block, prompts - 1);
  for (int64_t block = static_cast<int64_t>(thread_in_grid()); block < end;
       block += static_cast<int64_t>(threads_in_grid())) {
    const int prompt = prompt_of(batch, prompts, block);
    const int64_t index = block - batch.block_offsets[prompt];
    if (index < 0 || index >= blocks_of(batch, tokens_per_block, prompt)) {
      continue;  // between two prompts
    }
    const uint32_t* tokens = batch.tokens + batch.token_offsets[prompt] + index * tokens_per_block;
    hash_blocks(format, batch.scopes[prompt], tokens, tokens_per_block, 0, 1, batch.local + block,
                batch.sequence + block);
  }
}

// Sequence hashes. A warp per prompt; a chain is serial, O(blocks) mixes. In the trtllm-v1 format
// every token is a link of the chain, so a thread hashes a prompt, O(tokens).
extern "C" __global__ void kvasir_hash_chain(kvasir::HashFormat format, int tokens_per_block,
                                             kvasir::HashBatch batch, int prompts) {
  using namespace kvasir;
  if (format == HashFormat::kTrtllmV1) {
    for (uint64_t prompt = thread_in_grid(); prompt < static_cast<uint64_t>(prompts);
         prompt += threads_in_grid()) {
      hash_prompt(format, tokens_per_block, batch, static_cast<int>(prompt));
    }
    return;
  }
  for (uint32_t i = warp_in_grid(); i < static_cast<uint32_t>(prompts); i += warps_in_grid()) {
    const int prompt = static_cast<int>(i);
    const int blocks = blocks_of(batch, tokens_per_block, prompt);
    const uint64_t* local = batch.local + batch.block_offsets[prompt];
    uint64_t* sequence = batch.sequence + batch.block_offsets[prompt];
    if (format == HashFormat::kKvasir) {
      warp_chain(KvasirBlockHash(batch.scopes[prompt]), local, sequence, blocks);
    } else {
      warp_chain(DynamoBlockHash(batch.scopes[prompt]), local, sequence, blocks);
    }
  }
}
