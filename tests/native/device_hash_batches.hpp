// Compares the hash kernels with hash_prompt(). Written over a Device, like
// device_pool_history.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "check.hpp"
#include "kvasir/block_hash_core.hpp"

namespace kvasir {

// A copy of an array in memory that both sides read, for the lifetime of this object.
template <typename Device, typename T>
class Placed {
 public:
  Placed(Device& device, const std::vector<T>& values)
      : device_(device),
        count_(values.size()),
        data_(static_cast<T*>(device.host_memory((count_ + 1) * sizeof(T)))) {
    std::copy(values.begin(), values.end(), data_);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed() { device_.free_host(data_); }

  T* data() const { return data_; }
  std::vector<T> values() const { return {data_, data_ + count_}; }

 private:
  Device& device_;
  const size_t count_;
  T* const data_;
};

template <typename Device>
void batch_equals_prompts(Device& device, TestRandom& random, HashFormat format,
                          int tokens_per_block, uint32_t most_prompts) {
  const int prompts = random.below(8) == 0 ? 0 : 1 + static_cast<int>(random.below(most_prompts));
  const uint32_t most_blocks = tokens_per_block < 256 ? 70 : 4;
  std::vector<uint32_t> tokens;
  std::vector<int32_t> token_offsets{0};
  std::vector<int32_t> block_offsets;
  std::vector<HashScope> scopes;
  int32_t blocks = 0;
  for (int prompt = 0; prompt < prompts; prompt++) {
    const uint32_t length = random.below(most_blocks * static_cast<uint32_t>(tokens_per_block));
    for (uint32_t i = 0; i < length; i++) {
      tokens.push_back(static_cast<uint32_t>(random.next()));
    }
    token_offsets.push_back(static_cast<int32_t>(tokens.size()));
    blocks += static_cast<int32_t>(random.below(3));  // a gap
    block_offsets.push_back(blocks);
    blocks += static_cast<int32_t>(length) / tokens_per_block;
    const uint64_t lora_id = random.below(4) == 0 ? 0 : random.next();
    scopes.push_back({random.below(4), lora_id, random.next()});
  }
  // Results that are not written keep their value.
  std::vector<uint64_t> local(static_cast<size_t>(blocks) + 1, 7);
  std::vector<uint64_t> sequence = local;
  const Placed<Device, uint64_t> local_twin(device, local);
  const Placed<Device, uint64_t> sequence_twin(device, local);
  const Placed<Device, uint32_t> placed_tokens(device, tokens);
  const Placed<Device, int32_t> placed_token_offsets(device, token_offsets);
  const Placed<Device, int32_t> placed_block_offsets(device, block_offsets);
  const Placed<Device, HashScope> placed_scopes(device, scopes);
  const HashBatch batch{tokens.data(), token_offsets.data(), block_offsets.data(),
                        scopes.data(), local.data(),         sequence.data()};
  for (int prompt = 0; prompt < prompts; prompt++) {
    hash_prompt(format, tokens_per_block, batch, prompt);
  }
  const HashBatch twin{placed_tokens.data(),        placed_token_offsets.data(),
                       placed_block_offsets.data(), placed_scopes.data(),
                       local_twin.data(),           sequence_twin.data()};
  const uint32_t grid = 1 + random.below(Device::kMostBlocks);
  const uint32_t threads = 32 * (1 + random.below(Device::kMostWarps < 8 ? Device::kMostWarps : 8));
  device.launch(kvasir_hash_local, grid, threads, format, tokens_per_block, twin, prompts);
  device.launch(kvasir_hash_chain, grid, threads, format, tokens_per_block, twin, prompts);
  device.synchronise();
  CHECK(local == local_twin.values() && sequence == sequence_twin.values());
}

// `tokens_per_block` ranges from one word to more than a tile of tokens, with one for each way in
// which XXH3 reads a length.
template <typename Device>
void run_hash_batches(Device& device, uint64_t seeds, uint32_t most_prompts) {
  const HashFormat formats[] = {HashFormat::kKvasir, HashFormat::kDynamo, HashFormat::kTrtllmV1};
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    g_seed = seed;
    TestRandom random(seed);
    device.seed(seed);
    for (const HashFormat format : formats) {
      for (const int tokens_per_block : {1, 3, 5, 9, 16, 17, 25, 32, 48, 64, 128, 300, 9000}) {
        if (tokens_per_block < 9000 || seed == 1) {
          batch_equals_prompts(device, random, format, tokens_per_block, most_prompts);
        }
      }
    }
  }
}

}  // namespace kvasir
