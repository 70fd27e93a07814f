#include "ptx_memory.hpp"

#include <algorithm>

#include "ptx_module.hpp"

namespace ptx {

void Memory::add(const void* memory, uint64_t bytes, bool written) {
  pieces_[reinterpret_cast<uint64_t>(memory)] = {bytes,
                                                 std::vector<uint8_t>(written ? 0 : bytes, 1)};
  last_ = nullptr;
}

void Memory::remove(const void* memory) {
  pieces_.erase(reinterpret_cast<uint64_t>(memory));
  last_ = nullptr;
}

void Memory::written_by_host(uint64_t address, uint64_t bytes) {
  auto* piece = around(address, bytes);
  if (piece != nullptr && !piece->second.undefined.empty()) {
    std::fill_n(piece->second.undefined.data() + (address - piece->first), bytes, uint8_t{0});
  }
}

Bytes Memory::at(uint64_t address, uint64_t bytes) {
  auto* piece = around(address, bytes);
  if (piece == nullptr && !open_) {
    throw Fault("an access outside of the memory");
  }
  auto* data = reinterpret_cast<uint8_t*>(address);
  if (piece == nullptr || piece->second.undefined.empty()) {
    return {data, nullptr};
  }
  return {data, piece->second.undefined.data() + (address - piece->first)};
}

std::pair<const uint64_t, Memory::Piece>* Memory::around(uint64_t address, uint64_t bytes) {
  const auto contains = [=](const std::pair<const uint64_t, Piece>& piece) {
    return address >= piece.first && bytes <= piece.second.bytes &&
           address - piece.first <= piece.second.bytes - bytes;
  };
  if (last_ != nullptr && contains(*last_)) {
    return last_;
  }
  auto next = pieces_.upper_bound(address);
  if (next == pieces_.begin() || !contains(*--next)) {
    return nullptr;
  }
  return last_ = &*next;
}

}  // namespace ptx
