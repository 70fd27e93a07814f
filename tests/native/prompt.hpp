// Prompts of random tests: some continue others, and their hashes may be made to collide.
#pragma once

#include <vector>

#include "check.hpp"

namespace kvasir {

struct Prompt {
  std::vector<uint32_t> tokens;
  std::vector<uint64_t> hashes;
};

// Chains a weak local hash of `bits` bits through a strong mix: with few bits prompts collide, and
// their successors collide too, as with equal hashes.
inline Prompt make_prompt(TestRandom& random, const Prompt* start, uint32_t blocks,
                          uint32_t tokens_per_block, uint32_t bits) {
  Prompt prompt;
  if (start != nullptr) {
    const uint32_t shared = random.below(static_cast<uint32_t>(start->hashes.size()) + 1);
    prompt.tokens.assign(start->tokens.begin(), start->tokens.begin() + shared * tokens_per_block);
  }
  while (prompt.tokens.size() < blocks * tokens_per_block) {
    prompt.tokens.push_back(random.below(3));
  }
  uint64_t chain = 0;
  for (uint32_t block = 0; block * tokens_per_block < prompt.tokens.size(); block++) {
    uint64_t local = 0;
    for (uint32_t t = 0; t < tokens_per_block; t++) {
      local = local * 31 + prompt.tokens[block * tokens_per_block + t];
    }
    chain = TestRandom(chain ^ TestRandom(local & ((1ull << bits) - 1)).next()).next();
    prompt.hashes.push_back(chain);
  }
  return prompt;
}

// Hashes whose home is in the first sixteenth of the buckets, so that keys overflow far.
inline void crowd(std::vector<uint64_t>& hashes) {
  uint64_t inverse = 1;  // of the directory's multiplier
  for (int i = 0; i < 6; i++) {
    inverse *= 2 - 0x9e3779b97f4a7c15ull * inverse;
  }
  for (uint64_t& hash : hashes) {
    hash = inverse * (hash >> 4);
  }
}

}  // namespace kvasir
