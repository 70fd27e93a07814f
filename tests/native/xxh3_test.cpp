// XXH3 against the published vectors, between its entry points, and, where the header is installed,
// against libxxhash. Xxh3Test.java compares every length with another implementation.

#include <cstring>
#include <vector>

#include "check.hpp"
#include "kvasir/xxh3_core.hpp"
#include "vector_file.hpp"

#if defined(__has_include)
#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#define KVASIR_HAS_XXHASH
#endif
#endif

namespace kvasir {
namespace {

constexpr size_t kLongest = 4096;
const uint64_t kSeeds[] = {0, 1, 1337, 0x9E3779B97F4A7C15u, ~uint64_t{0}};

std::vector<uint8_t> random_bytes(size_t count) {
  TestRandom random(count);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

void equals_published_vectors() {
  for (const VectorCase& vector : read_vectors("block-hashes.json", "xxh3")) {
    const std::string hex = vector.text("hex");
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
      bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    CHECK(xxh3_64(bytes.data(), bytes.size(), vector.number("seed")) == vector.number("hash"));
  }
}

// Bytes are placed so that the address sanitizer detects reads past either end.
void tokens_hash_as_their_bytes() {
  for (size_t count = 0; count <= kLongest / 4; ++count) {
    const std::vector<uint8_t> bytes = random_bytes(4 * count);
    std::vector<uint32_t> tokens(count);
    if (count > 0) std::memcpy(tokens.data(), bytes.data(), bytes.size());
    for (uint64_t seed : kSeeds) {
      uint64_t derived[kXxh3SecretWords];
      xxh3_derive_secret(seed, derived);
      const uint64_t expected = xxh3_64(bytes.data(), bytes.size(), seed);
      CHECK(xxh3_64(tokens.data(), bytes.size(), seed) == expected);
      CHECK(xxh3_64_derived(tokens.data(), bytes.size(), seed, derived) == expected);
    }
    CHECK(xxh3_64(tokens.data(), bytes.size()) == xxh3_64(bytes.data(), bytes.size(), 0));
  }
}

void pair_hashes_as_sixteen_bytes() {
  TestRandom random(g_seed = 7);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t words[] = {random.next(), random.next()};
    uint8_t bytes[16];
    std::memcpy(bytes, words, sizeof(bytes));
    const uint64_t seed = random.next();
    CHECK(xxh3_64_pair(words[0], words[1], seed) == xxh3_64(bytes, 16, seed));
  }
}

// A lane's product loses one factor if the other is zero. This requires the upper token of a pair
// to equal the upper half of the secret at that offset, which is larger than any vocabulary.
void secret_words_are_no_tokens() {
  const auto upper = [](unsigned offset) {
    return xxh3::secret64(xxh3::default_secret(), offset) >> 32;
  };
  for (unsigned offset = 0; offset < 128; offset += 8) {
    CHECK(upper(offset) > uint64_t{1} << 24);
    CHECK(upper(offset + 3) > uint64_t{1} << 24);
  }
  CHECK(upper(119) > uint64_t{1} << 24);
  CHECK(upper(127) > uint64_t{1} << 24);
}

void equals_libxxhash_where_it_is_installed() {
#if defined(KVASIR_HAS_XXHASH)
  for (size_t count = 0; count <= kLongest; ++count) {
    const std::vector<uint8_t> bytes = random_bytes(count);
    for (uint64_t seed : kSeeds) {
      CHECK(xxh3_64(bytes.data(), count, seed) == XXH3_64bits_withSeed(bytes.data(), count, seed));
    }
  }
#endif
}

}  // namespace
}  // namespace kvasir

int main() {
  kvasir::equals_published_vectors();
  kvasir::tokens_hash_as_their_bytes();
  kvasir::pair_hashes_as_sixteen_bytes();
  kvasir::secret_words_are_no_tokens();
  kvasir::equals_libxxhash_where_it_is_installed();
  return 0;
}
