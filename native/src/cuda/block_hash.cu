// Block hashes of token batches that are already in device memory, bit for bit equal to
// hash_prompt(). Two launches: local hashes, then the chains over them.

#include "device_primitives.cuh"
#include "kvasir/block_hash_core.hpp"

namespace kvasir {

KVASIR_DEVICE int blocks_of(const HashBatch& batch, int tokens_per_block, int prompt) {
  return (batch.token_offsets[prompt + 1] - batch.token_offsets[prompt]) / tokens_per_block;
}

// The last prompt that starts at or before a block; offsets ascend.
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

// Capacity, in words, of the tile of tokens that a thread block hashes at a time.
constexpr uint32_t kTileWords = 128 * 65;
constexpr uint32_t kTileRows = 512;
struct HashTile {
  uint32_t words[kTileWords];
  int32_t prompts[kTileRows];
  int32_t starts[kTileRows];  // offset in the batch's tokens; -1 for an unused row
};

// Blocks of kTokens tokens, or of `tokens_per_block` if kTokens is 0. Threads load tokens into
// shared memory with coalesced reads, several in flight before the first store, then each thread
// hashes its own blocks. Rows are an odd number of words apart to avoid bank conflicts.
template <typename Format, int kTokens>
KVASIR_DEVICE void hash_tiles(HashTile& tile, int tokens_per_block, const HashBatch& batch,
                              int prompts, int64_t end) {
  constexpr uint32_t kAtOnce = 8;
  const uint32_t tokens = static_cast<uint32_t>(kTokens > 0 ? kTokens : tokens_per_block);
  const uint32_t row_words = tokens | 1;
  const uint32_t room = kTileWords / row_words;
  const uint32_t rows = room < kTileRows ? room : kTileRows;
  for (int64_t first = int64_t{blockIdx.x} * rows; first < end;
       first += int64_t{gridDim.x} * rows) {
    for (uint32_t row = threadIdx.x; row < rows; row += blockDim.x) {
      const int64_t block = first + row;
      const int prompt = block < end ? prompt_of(batch, prompts, block) : 0;
      const int64_t index = block - batch.block_offsets[prompt];
      const bool exists =
          block < end && index >= 0 && index < blocks_of(batch, tokens_per_block, prompt);
      tile.prompts[row] = prompt;
      tile.starts[row] =
          exists ? static_cast<int32_t>(batch.token_offsets[prompt] + index * tokens) : -1;
    }
    __syncthreads();
    const uint32_t words = rows * tokens;
    for (uint32_t from = threadIdx.x; from < words; from += kAtOnce * blockDim.x) {
      uint32_t loaded[kAtOnce];
      for (uint32_t k = 0; k < kAtOnce; k++) {
        const uint32_t word = from + k * blockDim.x;
        const int32_t start = word < words ? tile.starts[word / tokens] : -1;
        loaded[k] = start >= 0 ? batch.tokens[static_cast<uint32_t>(start) + word % tokens] : 0;
      }
      for (uint32_t k = 0; k < kAtOnce; k++) {
        const uint32_t word = from + k * blockDim.x;
        if (word < words) {
          tile.words[word / tokens * row_words + word % tokens] = loaded[k];
        }
      }
    }
    __syncthreads();
    for (uint32_t row = threadIdx.x; row < rows; row += blockDim.x) {
      if (tile.starts[row] >= 0) {
        const Format format(batch.scopes[tile.prompts[row]]);
        uint64_t sequence;
        format.hash(tile.words + row * row_words, static_cast<int>(tokens), true, 0,
                    batch.local + first + row, &sequence);
      }
    }
  }
}

// Blocks too long for a tile: each thread reads its block in place.
template <typename Format>
KVASIR_DEVICE void hash_long_blocks(int tokens_per_block, const HashBatch& batch, int prompts,
                                    int64_t end) {
  KVASIR_ASSUME(tokens_per_block >= static_cast<int>(kTileWords));
  for (int64_t block = static_cast<int64_t>(thread_in_grid()); block < end;
       block += static_cast<int64_t>(threads_in_grid())) {
    const int prompt = prompt_of(batch, prompts, block);
    const int64_t index = block - batch.block_offsets[prompt];
    if (index >= 0 && index < blocks_of(batch, tokens_per_block, prompt)) {
      const Format format(batch.scopes[prompt]);
      uint64_t sequence;
      format.hash(batch.tokens + batch.token_offsets[prompt] + index * tokens_per_block,
                  tokens_per_block, true, 0, batch.local + block, &sequence);
    }
  }
}

template <typename Format>
KVASIR_DEVICE void hash_local(HashTile& tile, int tokens_per_block, const HashBatch& batch,
                              int prompts) {
  const int64_t end =
      int64_t{batch.block_offsets[prompts - 1]} + blocks_of(batch, tokens_per_block, prompts - 1);
  switch (tokens_per_block) {
    case 16:
      hash_tiles<Format, 16>(tile, tokens_per_block, batch, prompts, end);
      break;
    case 32:
      hash_tiles<Format, 32>(tile, tokens_per_block, batch, prompts, end);
      break;
    case 64:
      hash_tiles<Format, 64>(tile, tokens_per_block, batch, prompts, end);
      break;
    case 128:
      hash_tiles<Format, 128>(tile, tokens_per_block, batch, prompts, end);
      break;
    default:
      if (static_cast<uint32_t>(tokens_per_block) < kTileWords) {
        hash_tiles<Format, 0>(tile, tokens_per_block, batch, prompts, end);
      } else {
        hash_long_blocks<Format>(tokens_per_block, batch, prompts, end);
      }
  }
}

// Chains a prompt's local hashes. Eight lanes compute the same chain; they load the next eight
// hashes with one coalesced read while the current eight are chained. All lanes of the warp must
// call it.
constexpr int kChainLanes = 8;
template <typename Format>
KVASIR_DEVICE void warp_chain(const Format& format, const uint64_t* local, uint64_t* sequence,
                              int blocks) {
  const int own = static_cast<int>(lane()) % kChainLanes;
  const int group = static_cast<int>(lane()) - own;
  uint64_t parent = format.root();
  uint64_t next = own < blocks ? local[own] : 0;
  for (int first = 0; __any_sync(kAllLanes, first < blocks); first += kChainLanes) {
    const uint64_t loaded = next;
    const int index = first + own;
    next = index < blocks - kChainLanes ? local[index + kChainLanes] : 0;
    uint64_t kept = 0;
    for (int i = 0; i < kChainLanes; i++) {
      parent = format.chain(first + i == 0, parent, __shfl_sync(kAllLanes, loaded, group + i));
      kept = i == own ? parent : kept;
    }
    if (index < blocks) {
      sequence[index] = kept;
    }
  }
}

template <typename Format>
KVASIR_DEVICE void hash_chains(int tokens_per_block, const HashBatch& batch, int prompts) {
  constexpr uint32_t kPrompts = 32 / kChainLanes;
  const uint64_t end = static_cast<uint64_t>(prompts);
  for (uint64_t first = uint64_t{warp_in_grid()} * kPrompts; first < end;
       first += uint64_t{warps_in_grid()} * kPrompts) {
    const uint64_t chosen = first + lane() / kChainLanes;
    const int prompt = static_cast<int>(chosen < end ? chosen : first);
    const int blocks = chosen < end ? blocks_of(batch, tokens_per_block, prompt) : 0;
    const Format format(batch.scopes[prompt]);
    warp_chain(format, batch.local + batch.block_offsets[prompt],
               batch.sequence + batch.block_offsets[prompt], blocks);
  }
}

}  // namespace kvasir

// Local hashes of the formats that chain them. One tile of tokens per thread block of at most 256
// threads; 128 threads fill a tile of 64-token blocks. O(tokens / threads).
extern "C" __global__ void __launch_bounds__(256, 2)
    kvasir_hash_local(kvasir::HashFormat format, int tokens_per_block, kvasir::HashBatch batch,
                      int prompts) {
  using namespace kvasir;
  KVASIR_SHARED(HashTile, tile);
  if (prompts == 0) {
    return;
  }
  if (format == HashFormat::kKvasir) {
    hash_local<KvasirBlockHash>(tile, tokens_per_block, batch, prompts);
  } else if (format == HashFormat::kDynamo) {
    hash_local<DynamoBlockHash>(tile, tokens_per_block, batch, prompts);
  }
}

// Sequence hashes. Eight lanes per prompt; a chain is serial, O(blocks) mixes. In the trtllm-v1
// format every token is a link of the chain, so one thread hashes a prompt, O(tokens).
extern "C" __global__ void __launch_bounds__(256)
    kvasir_hash_chain(kvasir::HashFormat format, int tokens_per_block, kvasir::HashBatch batch,
                      int prompts) {
  using namespace kvasir;
  KVASIR_ASSUME(tokens_per_block > 0);
  switch (format) {
    case HashFormat::kKvasir:
      hash_chains<KvasirBlockHash>(tokens_per_block, batch, prompts);
      break;
    case HashFormat::kDynamo:
      hash_chains<DynamoBlockHash>(tokens_per_block, batch, prompts);
      break;
    case HashFormat::kTrtllmV1:
      for (uint64_t prompt = thread_in_grid(); prompt < static_cast<uint64_t>(prompts);
           prompt += threads_in_grid()) {
        const int blocks = blocks_of(batch, tokens_per_block, static_cast<int>(prompt));
        const int32_t first = batch.block_offsets[prompt];
        hash_blocks_of<0>(TrtllmV1BlockHash(batch.scopes[prompt]),
                          batch.tokens + batch.token_offsets[prompt], tokens_per_block, 0, blocks,
                          batch.local + first, batch.sequence + first);
      }
      break;
  }
}
