// XXH3-64 for host and device, written from the public description of the algorithm (xxHash 0.8).
//
// Input is an array of bytes or of 32-bit tokens. Tokens hash as their little-endian bytes; on the
// device they are read word by word, because an int array does not allow unaligned 8-byte reads
// there. The secret is a table of 64-bit words: the algorithm's own, or, for a seeded hash of a
// long input, one derived from the seed. Callers that hash many long blocks under one seed derive
// the table once (`xxh3_derive_secret`) and pass it to `xxh3_64_derived`.
//
// A constant length resolves everything at compile time: the length class, the loops, and the reads
// of the secret, which become literals.
#pragma once

#include "kvasir/platform.hpp"

#if !defined(__CUDA_ARCH__)
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "kvasir reads tokens as little-endian words"
#endif
#endif

// Forces inlining so that a constant length propagates; compilers consider these functions too
// large.
#if defined(__CUDACC__)
#define KVASIR_HD_INLINED KVASIR_HD
#else
#define KVASIR_HD_INLINED KVASIR_HD __attribute__((always_inline))
#endif

namespace kvasir {

constexpr int kXxh3SecretWords = 24;

namespace xxh3 {

constexpr uint64_t kPrime32_1 = 0x9E3779B1u;
constexpr uint64_t kPrime32_2 = 0x85EBCA77u;
constexpr uint64_t kPrime32_3 = 0xC2B2AE3Du;
constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87u;
constexpr uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4Fu;
constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9u;
constexpr uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63u;
constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5u;
constexpr uint64_t kPrimeMix1 = 0x165667919E3779F9u;
constexpr uint64_t kPrimeMix2 = 0x9FB21C651E98DF25u;

constexpr unsigned kStripeBytes = 64;
constexpr unsigned kSecretBytes = 8 * kXxh3SecretWords;
constexpr unsigned kStripesPerRound = (kSecretBytes - kStripeBytes) / 8;

KVASIR_HD const uint64_t* default_secret() {
  static constexpr uint64_t kWords[kXxh3SecretWords] = {
      0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,
      0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,
      0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
      0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u,
      0xc3ebd33483acc5eau, 0xeb6313faffa081c5u, 0x49daf0b751dd0d17u, 0x9e68d429265516d3u,
      0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu};
  return kWords;
}

// Eight bytes of the secret from any byte offset up to kSecretBytes - 8.
KVASIR_HD uint64_t secret64(const uint64_t* secret, unsigned offset) {
#if defined(__CUDA_ARCH__)
  const unsigned shift = 8 * (offset % 8);
  const uint64_t low = secret[offset / 8] >> shift;
  return shift == 0 ? low : low | secret[offset / 8 + 1] << (64 - shift);
#else
  uint64_t value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(secret) + offset, sizeof(value));
  return value;
#endif
}

KVASIR_HD uint32_t read32(const uint8_t* input, size_t offset) {
#if defined(__CUDA_ARCH__)
  const uint8_t* p = input + offset;
  return p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
#else
  uint32_t value;
  std::memcpy(&value, input + offset, sizeof(value));
  return value;
#endif
}

// Offsets into tokens are also in bytes, and always multiples of four.
KVASIR_HD uint32_t read32(const uint32_t* input, size_t offset) { return input[offset / 4]; }

template <typename Unit>
KVASIR_HD uint64_t read64(const Unit* input, size_t offset) {
#if defined(__CUDA_ARCH__)
  return read32(input, offset) | uint64_t{read32(input, offset + 4)} << 32;
#else
  uint64_t value;
  std::memcpy(&value, reinterpret_cast<const unsigned char*>(input) + offset, sizeof(value));
  return value;
#endif
}

KVASIR_HD uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

KVASIR_HD uint64_t swap_bytes(uint64_t x) {
  x = (x & 0x00FF00FF00FF00FFu) << 8 | (x >> 8 & 0x00FF00FF00FF00FFu);
  x = (x & 0x0000FFFF0000FFFFu) << 16 | (x >> 16 & 0x0000FFFF0000FFFFu);
  return x << 32 | x >> 32;
}

// Both halves of the 128-bit product, folded by exclusive or.
KVASIR_HD uint64_t multiply_fold(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return a * b ^ __umul64hi(a, b);
#else
  __extension__ typedef unsigned __int128 uint128;
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#endif
}

KVASIR_HD uint64_t avalanche(uint64_t h) {
  h = (h ^ h >> 37) * kPrimeMix1;
  return h ^ h >> 32;
}

// The stronger finish of inputs up to three bytes, shared with XXH64.
KVASIR_HD uint64_t avalanche_short(uint64_t h) {
  h = (h ^ h >> 33) * kPrime64_2;
  h = (h ^ h >> 29) * kPrime64_3;
  return h ^ h >> 32;
}

template <typename Unit>
KVASIR_HD uint64_t mix16(const Unit* input, size_t offset, const uint64_t* secret,
                         unsigned secret_offset, uint64_t seed) {
  return multiply_fold(read64(input, offset) ^ (secret64(secret, secret_offset) + seed),
                       read64(input, offset + 8) ^ (secret64(secret, secret_offset + 8) - seed));
}

KVASIR_HD uint64_t hash_1_to_3(const uint8_t* input, size_t bytes, uint64_t seed) {
  const uint64_t word = uint64_t{input[0]} << 16 | uint64_t{input[bytes / 2]} << 24 |
                        uint64_t{input[bytes - 1]} | uint64_t{bytes} << 8;
  const uint64_t secret = secret64(default_secret(), 0);
  return avalanche_short(word ^ (((secret ^ secret >> 32) & 0xFFFFFFFFu) + seed));
}

// Tokens are four bytes each, so this class does not occur for them.
KVASIR_HD uint64_t hash_1_to_3(const uint32_t*, size_t, uint64_t) { return 0; }

template <typename Unit>
KVASIR_HD uint64_t hash_4_to_8(const Unit* input, size_t bytes, uint64_t seed) {
  const uint64_t* secret = default_secret();
  seed ^= swap_bytes(seed & 0xFFFFFFFFu);
  const uint64_t word = read32(input, bytes - 4) + (uint64_t{read32(input, 0)} << 32);
  uint64_t h = word ^ ((secret64(secret, 8) ^ secret64(secret, 16)) - seed);
  h ^= rotate_left(h, 49) ^ rotate_left(h, 24);
  h *= kPrimeMix2;
  h ^= (h >> 35) + bytes;
  h *= kPrimeMix2;
  return h ^ h >> 28;
}

// Inputs of 9 to 16 bytes, given as their first and last eight bytes.
KVASIR_HD uint64_t hash_9_to_16(uint64_t first, uint64_t last, size_t bytes, uint64_t seed) {
  const uint64_t* secret = default_secret();
  const uint64_t low = first ^ ((secret64(secret, 24) ^ secret64(secret, 32)) + seed);
  const uint64_t high = last ^ ((secret64(secret, 40) ^ secret64(secret, 48)) - seed);
  return avalanche(bytes + swap_bytes(low) + high + multiply_fold(low, high));
}

// From both ends towards the middle, 32 bytes of the secret for each pair of lanes.
template <typename Unit>
KVASIR_HD_INLINED uint64_t hash_17_to_128(const Unit* input, size_t bytes, uint64_t seed) {
  const uint64_t* secret = default_secret();
  uint64_t sum = bytes * kPrime64_1;
  const unsigned pairs = static_cast<unsigned>((bytes + 31) / 32);
  for (unsigned i = 0; i < pairs; ++i) {
    sum += mix16(input, 16 * i, secret, 32 * i, seed);
    sum += mix16(input, bytes - 16 * (i + 1), secret, 32 * i + 16, seed);
  }
  return avalanche(sum);
}

template <typename Unit>
KVASIR_HD_INLINED uint64_t hash_129_to_240(const Unit* input, size_t bytes, uint64_t seed) {
  const uint64_t* secret = default_secret();
  const unsigned lanes = static_cast<unsigned>(bytes / 16);
  uint64_t head = bytes * kPrime64_1;
  for (unsigned i = 0; i < 8; ++i) head += mix16(input, 16 * i, secret, 16 * i, seed);
  uint64_t tail = mix16(input, bytes - 16, secret, 119, seed);
  for (unsigned i = 8; i < lanes; ++i) {
    tail += mix16(input, 16 * i, secret, 16 * (i - 8) + 3, seed);
  }
  return avalanche(avalanche(head) + tail);
}

// Adds one stripe of 64 bytes to the eight sums: each word's two halves, keyed, are multiplied and
// added to its own sum, and the plain word is added to its neighbour's.
template <typename Unit>
KVASIR_HD_INLINED void accumulate(uint64_t* sums, const Unit* input, size_t offset,
                                  const uint64_t* secret, unsigned secret_offset) {
#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
  const auto* data = reinterpret_cast<const unsigned char*>(input) + offset;
  const auto* keys = reinterpret_cast<const unsigned char*>(secret) + secret_offset;
  auto* lanes = reinterpret_cast<__m128i*>(sums);
  for (int i = 0; i < 4; ++i) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i));
    const __m128i key =
        _mm_xor_si128(word, _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + 16 * i)));
    const __m128i product = _mm_mul_epu32(key, _mm_srli_epi64(key, 32));
    const __m128i swapped = _mm_shuffle_epi32(word, _MM_SHUFFLE(1, 0, 3, 2));
    const __m128i sum = _mm_loadu_si128(lanes + i);
    _mm_storeu_si128(lanes + i, _mm_add_epi64(_mm_add_epi64(sum, swapped), product));
  }
#else
  for (unsigned i = 0; i < 8; ++i) {
    const uint64_t word = read64(input, offset + 8 * i);
    const uint64_t key = word ^ secret64(secret, secret_offset + 8 * i);
    sums[i ^ 1] += word;
    sums[i] += (key & 0xFFFFFFFFu) * (key >> 32);
  }
#endif
}

template <typename Unit>
KVASIR_HD_INLINED uint64_t hash_long(const Unit* input, size_t bytes, const uint64_t* secret) {
  alignas(16) uint64_t sums[8] = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                                  kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
  const size_t stripes = (bytes - 1) / kStripeBytes;
  for (size_t stripe = 0; stripe < stripes; ++stripe) {
    const unsigned turn = static_cast<unsigned>(stripe % kStripesPerRound);
    accumulate(sums, input, stripe * kStripeBytes, secret, 8 * turn);
    if (turn == kStripesPerRound - 1) {
      for (unsigned i = 0; i < 8; ++i) {
        sums[i] = (sums[i] ^ sums[i] >> 47 ^ secret[kXxh3SecretWords - 8 + i]) * kPrime32_1;
      }
    }
  }
  accumulate(sums, input, bytes - kStripeBytes, secret, kSecretBytes - kStripeBytes - 7);
  uint64_t h = bytes * kPrime64_1;
  for (unsigned i = 0; i < 4; ++i) {
    h += multiply_fold(sums[2 * i] ^ secret64(secret, 11 + 16 * i),
                       sums[2 * i + 1] ^ secret64(secret, 19 + 16 * i));
  }
  return avalanche(h);
}

}  // namespace xxh3

constexpr size_t kXxh3LongBytes = 241;  // from here on the seed acts through a derived secret

// The secret derived from a seed, for inputs of kXxh3LongBytes and more.
KVASIR_HD void xxh3_derive_secret(uint64_t seed, uint64_t* secret) {
  const uint64_t* words = xxh3::default_secret();
  for (int i = 0; i < kXxh3SecretWords; i += 2) {
    secret[i] = words[i] + seed;
    secret[i + 1] = words[i + 1] - seed;
  }
}

// XXH3-64 under a seed with a given derived secret; `derived` is read for long inputs only.
template <typename Unit>
KVASIR_HD_INLINED uint64_t xxh3_64_derived(const Unit* input, size_t bytes, uint64_t seed,
                                           const uint64_t* derived) {
  if (bytes >= kXxh3LongBytes) return xxh3::hash_long(input, bytes, derived);
  if (bytes > 128) return xxh3::hash_129_to_240(input, bytes, seed);
  if (bytes > 16) return xxh3::hash_17_to_128(input, bytes, seed);
  if (bytes > 8) {
    return xxh3::hash_9_to_16(xxh3::read64(input, 0), xxh3::read64(input, bytes - 8), bytes, seed);
  }
  if (bytes >= 4) return xxh3::hash_4_to_8(input, bytes, seed);
  if (bytes > 0) return xxh3::hash_1_to_3(input, bytes, seed);
  const uint64_t* secret = xxh3::default_secret();
  return xxh3::avalanche_short(seed ^ xxh3::secret64(secret, 56) ^ xxh3::secret64(secret, 64));
}

// Unseeded XXH3-64 of `bytes` bytes.
template <typename Unit>
KVASIR_HD_INLINED uint64_t xxh3_64(const Unit* input, size_t bytes) {
  return xxh3_64_derived(input, bytes, 0, xxh3::default_secret());
}

// Seeded XXH3-64 of `bytes` bytes.
template <typename Unit>
KVASIR_HD uint64_t xxh3_64(const Unit* input, size_t bytes, uint64_t seed) {
  uint64_t derived[kXxh3SecretWords];
  if (bytes >= kXxh3LongBytes) xxh3_derive_secret(seed, derived);
  return xxh3_64_derived(input, bytes, seed, derived);
}

// Seeded XXH3-64 of the sixteen bytes of two little-endian words.
KVASIR_HD uint64_t xxh3_64_pair(uint64_t first, uint64_t second, uint64_t seed) {
  return xxh3::hash_9_to_16(first, second, 16, seed);
}

}  // namespace kvasir
