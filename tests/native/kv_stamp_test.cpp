// Compares the KvStamp kernel, run on the host by the shim, with a plain walk over each whole
// sequence: steps of any size over blocks in any order, some of them shared.

#include "cuda_shim.hpp"

// The kernels; the shim must be included before them.
#include <algorithm>
#include <memory>

#include "../../native/src/cuda/kernels.cu"
#include "kv_stamp.cu"

namespace kvasir {
namespace {

constexpr uint32_t kVocabulary = 1000;

struct Sequence {
  uint64_t scope_word;
  std::vector<int32_t> tokens;
  uint32_t computed = 0;
};

// Layer by layer over the whole sequence; no blocks.
int32_t expected_token(const Sequence& sequence, size_t length, uint32_t layers) {
  std::vector<std::vector<uint64_t>> words(layers, std::vector<uint64_t>(length));
  for (uint32_t layer = 0; layer < layers; layer++) {
    uint64_t word = sequence.scope_word;
    for (uint32_t position = 0; position < length; position++) {
      const uint64_t token = static_cast<uint64_t>(int64_t{sequence.tokens[position]});
      word = kv_mix(kv_mix(kv_mix(word + token) + kGoldenRatio * position) + layer);
      if (layer > 0) {
        word = kv_mix(word ^ words[layer - 1][position]);
      }
      words[layer][position] = word;
    }
  }
  uint64_t folded = length;
  for (size_t position = 0; position < length; position++) {
    for (uint32_t layer = 0; layer < layers; layer++) {
      folded = kv_mix(folded * kGoldenRatio + words[layer][position]);
    }
  }
  return static_cast<int32_t>((folded >> 32) * kVocabulary >> 32);
}

// Leases with block tables of random blocks, and KV memory that holds garbage.
class Leases {
 public:
  Leases(TestRandom& random, const PoolShape& shape, uint32_t layers)
      : random_(random),
        shape_(shape),
        layers_(layers),
        memory_(device_pool_bytes(shape) / 256 + 2),
        words_(uint64_t{shape.capacity_blocks} * shape.tokens_per_block * layers, 0xa5a5a5a5a5u) {
    void* start = memory_.data();
    size_t room = memory_.size() * 256;
    pool_ = static_cast<DevicePool*>(std::align(256, room - 256, start, room));
    DevicePool view{};
    device_pool_view(reinterpret_cast<uintptr_t>(pool_), shape, &view);
    *pool_ = view;
    for (uint32_t block = 0; block < shape.capacity_blocks; block++) {
      free_.push_back(block);
    }
  }

  // Starts with the first blocks of another lease, if there is one.
  void lease(int32_t lease, uint32_t blocks, int32_t other, uint32_t shared) {
    for (uint32_t i = 0; i < blocks; i++) {
      if (i < shared) {
        table(lease)[i] = table(other)[i];
        continue;
      }
      std::swap(free_[random_.below(static_cast<uint32_t>(free_.size()))], free_.back());
      table(lease)[i] = free_.back();
      free_.pop_back();
    }
  }

  void step(const std::vector<int32_t>& tokens, std::vector<KvStampEntry>& entries) {
    shim::launch(kvasir_kv_stamp, 1 + random_.below(3), 32 * (1 + random_.below(2)),
                 static_cast<const DevicePool*>(pool_), words_.data(), layers_, kVocabulary,
                 tokens.data(), entries.data(), static_cast<uint32_t>(entries.size()));
  }

 private:
  struct alignas(256) Piece {
    char bytes[256];
  };

  uint32_t* table(int32_t lease) { return block_table(*pool_, lease); }

  TestRandom& random_;
  const PoolShape shape_;
  const uint32_t layers_;
  std::vector<Piece> memory_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> free_;
  DevicePool* pool_;
};

// A step of random chunks; false when everything is computed.
bool step(TestRandom& random, std::vector<Sequence>& sequences, Leases& leases, uint32_t layers) {
  std::vector<int32_t> tokens;
  std::vector<KvStampEntry> entries;
  for (size_t i = 0; i < sequences.size(); i++) {
    Sequence& sequence = sequences[i];
    const uint32_t left = static_cast<uint32_t>(sequence.tokens.size()) - sequence.computed;
    if (left == 0) {
      continue;
    }
    const uint32_t chunk = 1 + random.below(left);
    entries.push_back({sequence.scope_word, static_cast<int32_t>(i), sequence.computed, chunk,
                       static_cast<uint32_t>(tokens.size()), random.below(2), -1});
    tokens.insert(tokens.end(), sequence.tokens.begin() + sequence.computed,
                  sequence.tokens.begin() + sequence.computed + chunk);
    sequence.computed += chunk;
  }
  leases.step(tokens, entries);
  for (const KvStampEntry& entry : entries) {
    const Sequence& sequence = sequences[static_cast<size_t>(entry.lease)];
    CHECK(entry.token ==
          (entry.produces != 0 ? expected_token(sequence, sequence.computed, layers) : -1));
  }
  return !entries.empty();
}

void outputs_equal_those_of_whole_sequences(uint64_t seed) {
  TestRandom random(seed);
  shim::Scheduler::get().seed(seed);
  const uint32_t layers = random.below(4) == 0 ? 1 + random.below(70) : 1 + random.below(4);
  const uint32_t tokens_per_block = 1 + random.below(5);
  const PoolShape shape{100, tokens_per_block, 8, 8, 0};
  Leases leases(random, shape, layers);
  std::vector<Sequence> sequences;
  const int32_t first_wave = 1 + static_cast<int32_t>(random.below(4));
  for (int32_t i = 0; i < 8; i++) {
    if (i == first_wave) {
      while (step(random, sequences, leases, layers)) {
      }
    }
    Sequence sequence{random.next(), {}};
    const uint32_t length = 1 + random.below(8 * tokens_per_block);
    uint32_t shared = 0;
    const int32_t other = static_cast<int32_t>(random.below(static_cast<uint32_t>(first_wave)));
    if (i >= first_wave) {
      const Sequence& start = sequences[static_cast<size_t>(other)];
      const size_t common = std::min<size_t>(start.tokens.size(), length - 1);
      shared = static_cast<uint32_t>(common) / tokens_per_block;
      sequence = {start.scope_word,
                  {start.tokens.begin(), start.tokens.begin() + shared * tokens_per_block},
                  shared * tokens_per_block};
    }
    while (sequence.tokens.size() < length) {
      sequence.tokens.push_back(static_cast<int32_t>(random.next()));
    }
    leases.lease(i, (length - 1) / tokens_per_block + 1, other, shared);
    sequences.push_back(sequence);
  }
  while (step(random, sequences, leases, layers)) {
  }
}

}  // namespace
}  // namespace kvasir

int main() {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    g_seed = seed;
    kvasir::outputs_equal_those_of_whole_sequences(seed);
  }
  std::puts("kv_stamp_test: ok");
  return 0;
}
