// The 64-bit words of a kernel's parameters and of memory, each of which may be an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

inline void append_words(std::vector<uint64_t>& words, const void* memory, size_t bytes) {
  for (size_t i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(memory) + i, sizeof word);
    words.push_back(word);
  }
}
