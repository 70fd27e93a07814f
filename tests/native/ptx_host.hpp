// What the host sees of memory that kernels write: stores reach it late and in any order that
// fences of system scope allow, those of launches that are over too, until the host waits for the
// stream. Half of them are held back until then or until a fence, unless there are too many.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "check.hpp"

namespace ptx {

class HostView {
 public:
  // Called after each store that has reached the host.
  std::function<void()> seen;

  // The host sees all that is in the memory now.
  void add(const void* memory, uint64_t bytes);
  void remove(const void* memory);

  // What it sees of the stores to memory that was added.
  const void* of(const void* memory) const {
    return pieces_.at(static_cast<const uint8_t*>(memory)).data();
  }

  // A store that the device sees now. `beside` says that it is of another stream.
  void store(const uint8_t* to, uint64_t bits, uint32_t bytes, bool beside, TestRandom& random);
  void show_one(TestRandom& random);
  void show_all();
  bool sees_all() const { return late_.empty(); }

  // Of this stream.
  bool sees_all_of_the_stream() const;

 private:
  struct Late {
    const uint8_t* to;
    uint64_t bits;
    uint32_t bytes;
    bool beside;
    bool held;
  };

  void show_from(size_t shown, bool forced);
  void show(size_t shown);
  std::vector<uint8_t>* around(const uint8_t* to, uint32_t bytes, size_t* offset);

  std::map<const uint8_t*, std::vector<uint8_t>> pieces_;
  std::vector<Late> late_;
};

}  // namespace ptx
