#include "ptx_time.hpp"

#include <algorithm>

namespace ptx {
namespace {

constexpr uint64_t kSchedulers = 4;           // of a multiprocessor, an instruction of a warp each
constexpr uint64_t kSectorsPerCycle = 2;      // between a multiprocessor and the L2 cache
constexpr uint64_t kCyclesPerHostSector = 8;  // 8 GB/s

uint64_t latency_of(const Instruction& self) {
  switch (self.op) {
    case Op::kDiv:
    case Op::kRem:
      return latency::kDivision;
    default:
      return self.type.bits == 64 ? 2 * latency::kArithmetic : latency::kArithmetic;
  }
}

bool is_access(const Instruction& self) {
  return self.op >= Op::kLoad && self.op <= Op::kAtomicCas;
}

}  // namespace

void LaunchTime::begin(uint32_t threads) {
  cycles_ = phase_ = sectors_ = host_sectors_ = host_moved_ = 0;
  near_.clear();
  fetched_.clear();
  together_.assign(threads / 32, {});
  last_.assign(threads / 32, 0);
}

void LaunchTime::begin(Thread& thread, uint32_t registers) {
  thread.now = thread.stored = 0;
  thread.issued = 0;
  thread.known.assign(registers, 0);
}

void LaunchTime::skip(Thread& thread, const Instruction& self) {
  thread.issued++;
  thread.now = std::max(thread.now + 1, thread.known[self.guard]);
}

void LaunchTime::issue(Thread& thread, const Instruction& self, uint32_t pc) {
  thread.issued++;
  thread.now++;
  if (fetched_.size() <= pc / 8) {
    fetched_.resize(pc / 8 + 1);
  }
  uint64_t& fetched = fetched_[pc / 8];
  if (fetched == 0) {
    fetched = thread.now + latency::kFetch;
  }
  thread.now = std::max(thread.now, fetched);
  if (self.guard != kLiteral) {
    thread.now = std::max(thread.now, thread.known[self.guard]);
  }
  for (int i = 0; i < self.ins; i++) {
    if (self.in[i].number != kLiteral) {
      thread.now = std::max(thread.now, thread.known[self.in[i].number]);
    }
  }
  if (self.op == Op::kFence) {
    thread.now = std::max(thread.now, thread.stored) + latency::kFence;
    near_.clear();
  } else if (!is_access(self)) {
    for (int i = 0; i < self.outs; i++) {
      thread.known[self.out[i].number] = thread.now + latency_of(self);
    }
  }
}

// Lanes of a warp that access the same sector in one instruction move it once.
bool LaunchTime::moves_sector(uint32_t number, const Instruction& self, const uint8_t* data) {
  const uint32_t warp = number / 32;
  if (last_[warp] != self.line) {
    last_[warp] = self.line;
    together_[warp].clear();
  }
  return together_[warp].insert(reinterpret_cast<uintptr_t>(data) / 32).second;
}

void LaunchTime::access(Thread& thread, uint32_t number, const Instruction& self,
                        const uint8_t* data, bool on_host) {
  uint64_t takes = latency::kShared;
  if (self.space == Space::kGlobal) {
    const bool near = !self.strong && !on_host && self.op == Op::kLoad &&
                      !near_.insert(reinterpret_cast<uintptr_t>(data) / 128).second;
    takes = near ? latency::kL1 : on_host ? latency::kHost : latency::kL2;
    if (!near && moves_sector(number, self, data)) {
      (on_host ? host_sectors_ : sectors_)++;
    }
  }
  if (self.op == Op::kStore) {
    thread.stored = std::max(thread.stored, thread.now + takes);
    return;
  }
  for (int i = 0; i < self.outs; i++) {
    thread.known[self.out[i].number] = thread.now + takes;
  }
}

void LaunchTime::meet_warp(const std::vector<Thread*>& lanes, const Instruction& self) {
  uint64_t latest = 0;
  uint64_t stored = 0;
  for (const Thread* lane : lanes) {
    latest = std::max(latest, lane->now);
    stored = std::max(stored, lane->stored);
  }
  for (Thread* lane : lanes) {
    lane->now = latest;
    lane->stored = self.op == Op::kWarpBarrier ? stored : lane->stored;
    for (int i = 0; i < self.outs; i++) {
      lane->known[self.out[i].number] = latest + latency::kShuffle;
    }
  }
}

void LaunchTime::meet_block(const std::vector<Thread*>& threads) {
  uint64_t latest = 0;
  uint64_t stored = 0;
  uint64_t issued = 0;
  for (size_t warp = 0; warp < threads.size(); warp += 32) {
    uint32_t most = 0;
    for (size_t i = warp; i < warp + 32; i++) {
      latest = std::max(latest, threads[i]->now);
      stored = std::max(stored, threads[i]->stored);
      most = std::max(most, threads[i]->issued);
    }
    issued += most;
  }
  host_moved_ = std::max(host_moved_, phase_) + host_sectors_ * kCyclesPerHostSector;
  if (host_sectors_ > 0) {
    stored = std::max(stored, host_moved_ + latency::kHost);
  }
  host_sectors_ = 0;
  const uint64_t least = phase_ + std::max(issued / kSchedulers, sectors_ / kSectorsPerCycle);
  phase_ = std::max(latest, least) + latency::kBarrier;
  sectors_ = 0;
  for (Thread* thread : threads) {
    thread->now = phase_;
    thread->stored = stored;
    thread->issued = 0;
  }
}

void LaunchTime::end(const Thread& thread) {
  cycles_ = std::max({cycles_, thread.now, thread.stored});
}

}  // namespace ptx
