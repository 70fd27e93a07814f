// The memory that interpreted kernels may reach: pieces of the host's, with what was written.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace ptx {

// Bytes of any space. `undefined` has a byte that is not 0 for each that nothing was written to; it
// is null where the host may write at any time.
struct Bytes {
  uint8_t* data = nullptr;
  uint8_t* undefined = nullptr;
};

class Memory {
 public:
  // An open memory takes every address that it does not know for one of the host's.
  explicit Memory(bool open = false) : open_(open) {}
  void close() { open_ = false; }

  // `written` says that the host may write it at any time. Otherwise its bytes are undefined until
  // a kernel writes them, or the host says that it did.
  void add(const void* memory, uint64_t bytes, bool written);
  void remove(const void* memory);
  void written_by_host(uint64_t address, uint64_t bytes);

  // Throws a Fault if the bytes are not all in one piece.
  Bytes at(uint64_t address, uint64_t bytes);

 private:
  struct Piece {
    uint64_t bytes;
    std::vector<uint8_t> undefined;
  };
  std::pair<const uint64_t, Piece>* around(uint64_t address, uint64_t bytes);

  bool open_;
  std::map<uint64_t, Piece> pieces_;
  std::pair<const uint64_t, Piece>* last_ = nullptr;
};

}  // namespace ptx
