// The block hash formats against the conformance vectors, and the kvasir format's quality: no
// collision among millions of structured prompts, and every input bit reaches every output bit.
// NativeBlockHasherTest.java compares all formats with independent implementations.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "check.hpp"
#include "kvasir/block_hash_core.hpp"
#include "vector_file.hpp"

namespace kvasir {
namespace {

constexpr HashScope kNoScope{0, 0, 0};

struct Hashes {
  std::vector<uint64_t> local;
  std::vector<uint64_t> sequence;
};

Hashes hash_all(HashFormat format, const HashScope& scope, const std::vector<uint32_t>& tokens,
                int tokens_per_block) {
  const size_t blocks = tokens.size() / static_cast<size_t>(tokens_per_block);
  Hashes hashes{std::vector<uint64_t>(blocks), std::vector<uint64_t>(blocks)};
  hash_blocks(format, scope, tokens.data(), tokens_per_block, 0, static_cast<int>(blocks),
              hashes.local.data(), hashes.sequence.data());
  return hashes;
}

// The kvasir sequence hash of a prompt's last full block.
uint64_t name_of(const std::vector<uint32_t>& tokens, int tokens_per_block) {
  return hash_all(HashFormat::kKvasir, kNoScope, tokens, tokens_per_block).sequence.back();
}

HashFormat format_named(const std::string& name) {
  if (name == "kvasir") return HashFormat::kKvasir;
  if (name == "dynamo") return HashFormat::kDynamo;
  CHECK(name == "trtllm-v1");
  return HashFormat::kTrtllmV1;
}

HashScope scope_of(const VectorCase& vector) {
  HashScope scope = kNoScope;
  if (vector.has("lora")) {
    scope.mask |= kScopeLora;
    scope.lora_id = vector.number("lora");
  }
  if (vector.has("salt")) {
    scope.mask |= kScopeSalt;
    scope.salt_id = vector.number("salt");
  }
  return scope;
}

void blocks_equal_vectors() {
  for (const VectorCase& vector : read_vectors("block-hashes.json", "blocks")) {
    const int tokens_per_block = static_cast<int>(vector.number("tokensPerBlock"));
    const Hashes hashes = hash_all(format_named(vector.text("format")), scope_of(vector),
                                   vector.tokens(), tokens_per_block);
    CHECK(hashes.local == vector.numbers("local"));
    CHECK(hashes.sequence == vector.numbers("sequence"));
  }
}

void trtllm_keys_equal_vectors() {
  for (const VectorCase& vector : read_vectors("block-hashes.json", "trtllm-block")) {
    const std::vector<uint32_t> tokens = vector.tokens();
    const uint64_t key = TrtllmV1BlockHash(kNoScope).key(
        tokens.data(), static_cast<int>(tokens.size()), vector.number("parent"));
    CHECK(key == vector.number("sequence"));
  }
  for (const VectorCase& vector : read_vectors("block-hashes.json", "trtllm-prompt")) {
    const std::vector<uint32_t> tokens = vector.tokens();
    const int count = static_cast<int>(tokens.size());
    const int tokens_per_block = static_cast<int>(vector.number("tokensPerBlock"));
    std::vector<uint64_t> keys(static_cast<size_t>(trtllm_prompt_blocks(count, tokens_per_block)));
    trtllm_v1_prompt_keys(kNoScope, tokens.data(), count, tokens_per_block, keys.data());
    CHECK(keys == vector.numbers("sequence"));
  }
  for (const VectorCase& vector : read_vectors("block-hashes.json", "trtllm-prompt-blocks")) {
    CHECK(trtllm_prompt_blocks(static_cast<int>(vector.number("count")),
                               static_cast<int>(vector.number("tokensPerBlock"))) ==
          static_cast<int>(vector.number("blocks")));
  }
}

void ranges_and_batches_equal_whole_prompts() {
  TestRandom random(g_seed = 11);
  for (int round = 0; round < 300; ++round) {
    const auto format = static_cast<HashFormat>(random.below(3));
    const int tokens_per_block =
        round % 2 ? 16 << random.below(4) : 1 + static_cast<int>(random.below(70));
    std::vector<uint32_t> tokens;
    std::vector<int32_t> token_offsets{0}, block_offsets{0};
    std::vector<HashScope> scopes;
    Hashes expected;
    for (uint32_t prompt = random.below(4); prompt < 4; ++prompt) {
      std::vector<uint32_t> own(random.below(500));
      for (uint32_t& token : own) token = static_cast<uint32_t>(random.next());
      const HashScope scope{random.below(4), random.below(3), random.next()};
      Hashes hashes = hash_all(format, scope, own, tokens_per_block);

      const int blocks = static_cast<int>(hashes.local.size());
      const int cut = static_cast<int>(random.below(static_cast<uint32_t>(blocks) + 1));
      Hashes parts{std::vector<uint64_t>(hashes.local.size()), hashes.sequence};
      std::fill(parts.sequence.begin() + cut, parts.sequence.end(), 0);
      hash_blocks(format, scope, own.data(), tokens_per_block, cut, blocks, parts.local.data(),
                  parts.sequence.data());
      CHECK(parts.sequence == hashes.sequence);
      CHECK(std::equal(parts.local.begin() + cut, parts.local.end(), hashes.local.begin() + cut));
      CHECK(std::count(parts.local.begin(), parts.local.begin() + cut, 0) == cut);

      tokens.insert(tokens.end(), own.begin(), own.end());
      token_offsets.push_back(static_cast<int32_t>(tokens.size()));
      scopes.push_back(scope);
      expected.local.insert(expected.local.end(), hashes.local.begin(), hashes.local.end());
      expected.sequence.insert(expected.sequence.end(), hashes.sequence.begin(),
                               hashes.sequence.end());
      block_offsets.push_back(static_cast<int32_t>(expected.local.size()));
    }
    Hashes actual{std::vector<uint64_t>(expected.local.size()),
                  std::vector<uint64_t>(expected.local.size())};
    const HashBatch batch{tokens.data(), token_offsets.data(), block_offsets.data(),
                          scopes.data(), actual.local.data(),  actual.sequence.data()};
    for (int i = 0; i < static_cast<int>(scopes.size()); ++i) {
      hash_prompt(format, tokens_per_block, batch, i);
    }
    CHECK(actual.local == expected.local);
    CHECK(actual.sequence == expected.sequence);
  }
}

// Pairs that agree in 32 bits: n random words have n^2 / 2^33 on average, with about that variance.
void expect_random_pairs(std::vector<uint64_t> words, int shift, const char* what) {
  for (uint64_t& word : words) word = word >> shift & 0xFFFFFFFFu;
  std::sort(words.begin(), words.end());
  double pairs = 0;
  for (size_t i = 0, run = 0; i < words.size(); ++i) {
    run = i > 0 && words[i] == words[i - 1] ? run + 1 : 0;
    pairs += static_cast<double>(run);
  }
  const double n = static_cast<double>(words.size());
  const double expected = n * n / 8589934592.0;
  const double bound = 6 * std::sqrt(expected) + 6;
  if (std::abs(pairs - expected) > bound) {
    std::fprintf(stderr, "%s: %.0f pairs agree in bits %d to %d, expected %.0f +- %.0f\n", what,
                 pairs, shift, shift + 31, expected, bound);
    CHECK(false);
  }
}

// Different prompts have different hashes, and each half of the hash is as good as random.
void expect_no_collisions(std::vector<uint64_t> names, const char* what) {
  expect_random_pairs(names, 0, what);
  expect_random_pairs(names, 32, what);
  std::sort(names.begin(), names.end());
  const bool unique = std::adjacent_find(names.begin(), names.end()) == names.end();
  if (!unique) std::fprintf(stderr, "%s: two prompts have one sequence hash\n", what);
  CHECK(unique);
}

std::vector<uint32_t> counted(uint32_t first, size_t count) {
  std::vector<uint32_t> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = first + static_cast<uint32_t>(i);
  return tokens;
}

void single_token_changes_do_not_collide() {
  for (int tokens_per_block : {16, 32, 64}) {
    std::vector<uint64_t> names;
    std::vector<uint32_t> prompt = counted(100000, 2 * static_cast<size_t>(tokens_per_block));
    names.push_back(name_of(prompt, tokens_per_block));
    for (uint32_t& token : prompt) {
      const uint32_t before = token;
      for (uint32_t other = 0; other < 4096; ++other) {
        token = other;
        names.push_back(name_of(prompt, tokens_per_block));
      }
      token = before;
    }
    expect_no_collisions(std::move(names), "single token changes");
  }
}

void swapped_tokens_do_not_collide() {
  std::vector<uint64_t> names;
  for (uint32_t first = 0; first < 20 * 128; first += 128) {
    std::vector<uint32_t> block = counted(first, 128);
    names.push_back(name_of(block, 128));
    for (size_t i = 0; i < block.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        std::swap(block[i], block[j]);
        names.push_back(name_of(block, 128));
        std::swap(block[i], block[j]);
      }
    }
  }
  expect_no_collisions(std::move(names), "swapped tokens");
}

void counters_do_not_collide() {
  std::vector<uint64_t> names;
  std::vector<uint32_t> block(16);
  for (uint32_t i = 1; i <= 150000; ++i) {
    std::fill(block.begin(), block.end(), i);
    names.push_back(name_of(block, 16));
    std::fill(block.begin(), block.end() - 1, 0);
    names.push_back(name_of(block, 16));
    std::swap(block.front(), block.back());
    names.push_back(name_of(block, 16));
    block = counted(i, 16);
    names.push_back(name_of(block, 16));
  }
  expect_no_collisions(std::move(names), "counters");
}

// Sequence hashes after a chain of blocks that are given by their local hashes.
uint64_t chained(uint64_t root, const std::vector<uint64_t>& locals) {
  for (uint64_t local : locals) root = kvasir_mix(root, local);
  return root;
}

std::vector<uint64_t> local_hashes(size_t blocks) {
  return hash_all(HashFormat::kKvasir, kNoScope, counted(0, 16 * blocks), 16).local;
}

void permuted_blocks_do_not_collide() {
  std::vector<uint64_t> locals = local_hashes(9);
  std::sort(locals.begin(), locals.end());
  std::vector<uint64_t> names;
  do {
    names.push_back(chained(0, locals));
  } while (std::next_permutation(locals.begin(), locals.end()));
  expect_no_collisions(std::move(names), "permuted blocks");
}

// All arrangements of two blocks, including those that cancel in linear chains.
void arrangements_of_two_blocks_do_not_collide() {
  const std::vector<uint64_t> locals = local_hashes(2);
  std::vector<uint64_t> names{0};
  for (int length = 0; length < 19; ++length) {
    std::vector<uint64_t> longer;
    for (uint64_t name : names) {
      longer.push_back(kvasir_mix(name, locals[0]));
      longer.push_back(kvasir_mix(name, locals[1]));
    }
    names = std::move(longer);
  }
  expect_no_collisions(std::move(names), "arrangements of two blocks");

  std::vector<uint64_t> straight, inverse;
  for (uint32_t i = 0; i < 4096; ++i) {
    const int parity = __builtin_popcount(i) & 1;  // the sequence of Thue and Morse
    straight.push_back(locals[static_cast<size_t>(parity)]);
    inverse.push_back(locals[static_cast<size_t>(1 - parity)]);
    CHECK(chained(0, straight) != chained(0, inverse));
  }
}

void repeated_blocks_do_not_collide() {
  for (uint64_t local : {local_hashes(1)[0], uint64_t{0}, uint64_t{1}}) {
    std::vector<uint64_t> names{KvasirBlockHash(kNoScope).root()};
    while (names.size() < 400000) names.push_back(kvasir_mix(names.back(), local));
    expect_no_collisions(std::move(names), "repeated blocks");
  }
}

// The first sequence hashes under many scopes, including similar ids and absent versus zero.
void scopes_do_not_collide() {
  const std::vector<uint32_t> block = counted(0, 16);
  for (HashFormat format : {HashFormat::kKvasir, HashFormat::kDynamo, HashFormat::kTrtllmV1}) {
    std::vector<uint64_t> names;
    const auto add = [&](uint64_t mask, uint64_t lora_id, uint64_t salt_id) {
      names.push_back(hash_all(format, {mask, lora_id, salt_id}, block, 16).sequence[0]);
    };
    add(0, 0, 0);
    for (uint64_t i = 0; i < 400; ++i) {
      add(kScopeLora, i, 0);
      add(kScopeSalt, 0, i);
      for (uint64_t j = 0; j < 400; ++j) add(kScopeLora | kScopeSalt, i, j);
    }
    if (format == HashFormat::kTrtllmV1) {  // its fold is too weak to look random
      std::sort(names.begin(), names.end());
      CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    } else {
      expect_no_collisions(std::move(names), "scopes");
    }
  }
}

// Flip counts of the 64 output bits, per input bit.
class FlipCounts {
 public:
  explicit FlipCounts(size_t input_bits) : counts_(input_bits * 64) {}

  void add(size_t input_bit, uint64_t difference) {
    for (size_t i = 0; i < 64; ++i) counts_[64 * input_bit + i] += difference >> i & 1;
  }

  // The largest distance of a frequency from one half.
  double bias(int samples) const {
    double worst = 0;
    for (uint64_t count : counts_) {
      worst = std::max(worst, std::abs(static_cast<double>(count) / samples - 0.5));
    }
    return worst;
  }

 private:
  std::vector<uint64_t> counts_;
};

// Random sampling alone gives a standard deviation of 0.5 / sqrt(samples); six of them are allowed.
double allowed_bias(int samples) { return 3 / std::sqrt(samples); }

void every_bit_of_parent_and_local_avalanches() {
  constexpr int kSamples = 1 << 14;
  for (const bool counters : {false, true}) {
    TestRandom random(g_seed = 23);
    FlipCounts by_parent(64), by_local(64);
    for (int i = 0; i < kSamples; ++i) {
      const uint64_t parent = counters ? static_cast<uint64_t>(i) : random.next();
      const uint64_t local = counters ? 1 : random.next();
      const uint64_t name = kvasir_mix(parent, local);
      for (size_t bit = 0; bit < 64; ++bit) {
        by_parent.add(bit, name ^ kvasir_mix(parent ^ uint64_t{1} << bit, local));
        by_local.add(bit, name ^ kvasir_mix(parent, local ^ uint64_t{1} << bit));
      }
    }
    CHECK(by_parent.bias(kSamples) < allowed_bias(kSamples));
    CHECK(by_local.bias(kSamples) < allowed_bias(kSamples));
  }
}

void every_bit_of_every_token_avalanches() {
  constexpr int kSamples = 1 << 11;
  constexpr size_t kTokens = 32;
  TestRandom random(g_seed = 29);
  FlipCounts by_token(kTokens * 32);
  for (int i = 0; i < kSamples; ++i) {
    std::vector<uint32_t> prompt(kTokens);
    for (uint32_t& token : prompt) token = random.below(150000);
    const uint64_t name = name_of(prompt, 16);
    for (size_t bit = 0; bit < kTokens * 32; ++bit) {
      prompt[bit / 32] ^= 1u << bit % 32;
      by_token.add(bit, name ^ name_of(prompt, 16));
      prompt[bit / 32] ^= 1u << bit % 32;
    }
  }
  CHECK(by_token.bias(kSamples) < allowed_bias(kSamples));
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  blocks_equal_vectors();
  trtllm_keys_equal_vectors();
  ranges_and_batches_equal_whole_prompts();
  single_token_changes_do_not_collide();
  swapped_tokens_do_not_collide();
  counters_do_not_collide();
  permuted_blocks_do_not_collide();
  arrangements_of_two_blocks_do_not_collide();
  repeated_blocks_do_not_collide();
  scopes_do_not_collide();
  every_bit_of_parent_and_local_avalanches();
  every_bit_of_every_token_avalanches();
  return 0;
}
