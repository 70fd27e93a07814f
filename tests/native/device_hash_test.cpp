// The hash kernels, run on the host by the shim, give the hashes of hash_prompt().

#include "cuda_shim.hpp"

// The kernels themselves; the shim must come before them.
#include "../../native/src/cuda/kernels.cu"

namespace kvasir {
namespace {

void batch_equals_prompts(TestRandom& random, HashFormat format, int tokens_per_block) {
  const int prompts = static_cast<int>(random.below(7));
  std::vector<uint32_t> tokens;
  std::vector<int32_t> token_offsets{0};
  std::vector<int32_t> block_offsets;
  std::vector<HashScope> scopes;
  int32_t blocks = 0;
  for (int prompt = 0; prompt < prompts; prompt++) {
    const uint32_t length = random.below(70u * static_cast<uint32_t>(tokens_per_block));
    for (uint32_t i = 0; i < length; i++) {
      tokens.push_back(static_cast<uint32_t>(random.next()));
    }
    token_offsets.push_back(static_cast<int32_t>(tokens.size()));
    blocks += static_cast<int32_t>(random.below(3));  // a gap
    block_offsets.push_back(blocks);
    blocks += static_cast<int32_t>(length) / tokens_per_block;
    scopes.push_back({random.below(4), random.next(), random.next()});
  }
  // Answers that nobody gives keep their value.
  std::vector<uint64_t> local(static_cast<size_t>(blocks) + 1, 7);
  std::vector<uint64_t> sequence = local;
  std::vector<uint64_t> local_twin = local;
  std::vector<uint64_t> sequence_twin = local;
  HashBatch batch{tokens.data(), token_offsets.data(), block_offsets.data(),
                  scopes.data(), local.data(),         sequence.data()};
  for (int prompt = 0; prompt < prompts; prompt++) {
    hash_prompt(format, tokens_per_block, batch, prompt);
  }
  batch.local = local_twin.data();
  batch.sequence = sequence_twin.data();
  const uint32_t grid = 1 + random.below(3);
  shim::launch(kvasir_hash_local, grid, 64, format, tokens_per_block, batch, prompts);
  shim::launch(kvasir_hash_chain, grid, 64, format, tokens_per_block, batch, prompts);
  CHECK(local == local_twin && sequence == sequence_twin);
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  const HashFormat formats[] = {HashFormat::kKvasir, HashFormat::kDynamo, HashFormat::kTrtllmV1};
  for (uint64_t seed = 1; seed <= 10; seed++) {
    g_seed = seed;
    TestRandom random(seed);
    shim::Scheduler::get().seed(seed);
    for (const HashFormat format : formats) {
      for (const int tokens_per_block : {1, 5, 16, 32, 64, 128}) {
        batch_equals_prompts(random, format, tokens_per_block);
      }
    }
  }
  std::puts("device_hash_test: ok");
  return 0;
}
