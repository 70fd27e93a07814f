// How long a launch of one thread block would take on a device. Each thread issues its instructions
// in order, each when its operands are there; the result is there after the latency of the
// operation. Barriers and operations of warps wait for their latest thread, fences for the stores
// before them. Between two barriers a block takes no less than its multiprocessor needs to issue
// its instructions and to move its sectors of memory.
//
// Not modelled: what a warp's branches add, instructions that ptxas adds or removes, other work on
// the device. Memory is in the L2 cache, the code in no nearer one. Time is counted in cycles.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ptx_module.hpp"

namespace ptx {

// Cycles. Shared memory and the caches are as measured on an H100 (Luo et al., arXiv 2402.13499).
// The others are rough; those of the host and of fetches were chosen in sight of docs/gpu.md's
// figures.
namespace latency {
constexpr uint64_t kArithmetic = 5;
constexpr uint64_t kDivision = 60;
constexpr uint64_t kShuffle = 23;
constexpr uint64_t kShared = 29;
constexpr uint64_t kL1 = 41;
constexpr uint64_t kL2 = 263;
constexpr uint64_t kHost = 2000;
constexpr uint64_t kBarrier = 30;
constexpr uint64_t kFence = 40;
constexpr uint64_t kFetch = 130;  // of eight instructions that no thread has had in this launch
}  // namespace latency

constexpr double kCyclesPerMicrosecond = 1980;  // H100 and H200, at most

class LaunchTime {
 public:
  struct Thread {
    uint64_t now = 0;
    uint64_t stored = 0;          // when its stores are where they go
    uint32_t issued = 0;          // instructions since the last barrier
    std::vector<uint64_t> known;  // when a register has its value
  };

  void begin(uint32_t threads);
  static void begin(Thread& thread, uint32_t registers);

  // An instruction, unless it is an access or one that threads meet at: then only its issue.
  void issue(Thread& thread, const Instruction& self, uint32_t pc);
  // An instruction whose guard does not hold.
  static void skip(Thread& thread, const Instruction& self);
  void access(Thread& thread, uint32_t number, const Instruction& self, const uint8_t* data,
              bool on_host);
  void meet_warp(const std::vector<Thread*>& lanes, const Instruction& self);
  void meet_block(const std::vector<Thread*>& threads);
  void end(const Thread& thread);

  // Of the last launch.
  uint64_t cycles() const { return cycles_; }
  double microseconds() const { return static_cast<double>(cycles_) / kCyclesPerMicrosecond; }

 private:
  bool moves_sector(uint32_t number, const Instruction& self, const uint8_t* data);

  uint64_t cycles_ = 0;
  uint64_t phase_ = 0;         // when the last barrier was passed
  uint64_t sectors_ = 0;       // moved since then
  uint64_t host_sectors_ = 0;  // from or to the host
  uint64_t host_moved_ = 0;    // when the link to the host has moved those of earlier phases
  std::unordered_set<uint64_t> near_;                   // lines in the L1 cache
  std::vector<std::unordered_set<uint64_t>> together_;  // sectors of a warp's instruction
  std::vector<uint32_t> last_;                          // that instruction
  std::vector<uint64_t> fetched_;                       // when eight instructions are there, or 0
};

}  // namespace ptx
