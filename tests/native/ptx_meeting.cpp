// Where threads of the machine meet: barriers, and the operations of warps.
#include "ptx_machine.hpp"

namespace ptx {

void Machine::end(Thread& thread) {
  Block& block = *thread.block;
  if (block.barrier.arrived != 0) {
    throw Fault("a thread ends while others wait at a barrier");
  }
  const Meeting& warp = block.warps[thread.number / 32];
  if (warp.arrived != 0 && (warp.mask >> thread.number % 32 & 1) != 0) {
    throw Fault("a thread ends while lanes of its warp wait for it");
  }
  thread.ended = true;
  block.ended++;
  if (time_ != nullptr) {
    time_->end(thread.time);
  }
}

void Machine::release(Thread& thread) {
  thread.waits = false;
  thread.pc++;
}

void Machine::meet_block(Thread& thread, const Instruction& self) {
  Block& block = *thread.block;
  if (defined(read(thread, self.in[0]), {32, false}) != 0) {
    throw Fault("a barrier other than 0");
  }
  if (block.ended != 0) {
    throw Fault("a barrier after the end of other threads");
  }
  if (block.barrier.arrived != 0 && block.barrier.pc != thread.pc) {
    throw Fault("threads of a block at different barriers");
  }
  show_all(thread);
  block.barrier.pc = thread.pc;
  if (++block.barrier.arrived < threads_per_block_) {
    thread.waits = true;
    return;
  }
  block.barrier.arrived = 0;
  if (finds_races_) {
    detector_.barrier(block.first_thread, threads_per_block_);
  }
  if (time_ != nullptr) {
    time_->meet_block(times_of(&threads_[size_t{block.place} * threads_per_block_],
                               threads_per_block_, ~uint32_t{0}));
  }
  for (uint32_t i = 0; i < threads_per_block_; i++) {
    const uint32_t number = block.place * threads_per_block_ + i;
    if (&threads_[number] != &thread) {
      ready_.push_back(number);
    }
    refresh(threads_[number]);
    release(threads_[number]);
  }
}

void Machine::meet_warp(Thread& thread, const Instruction& self) {
  Block& block = *thread.block;
  const uint32_t lane = thread.number % 32;
  const uint32_t first = block.place * threads_per_block_ + thread.number / 32 * 32;
  for (int i = 0; i < self.ins; i++) {
    thread.given[i] = read(thread, self.in[i]);
  }
  const auto mask = static_cast<uint32_t>(defined(thread.given[self.ins - 1], {32, false}));
  if ((mask >> lane & 1) == 0) {
    throw Fault("a lane that its mask does not name");
  }
  Meeting& meeting = block.warps[thread.number / 32];
  if (meeting.arrived == 0) {
    meeting.pc = thread.pc;
    meeting.mask = mask;
    for (uint32_t i = 0; i < 32; i++) {
      if ((mask >> i & 1) != 0 && threads_[first + i].ended) {
        throw Fault("a mask that names lanes that have ended");
      }
    }
  } else if (meeting.pc != thread.pc || meeting.mask != mask) {
    throw Fault("lanes of a warp at different operations");
  }
  if (self.op == Op::kWarpBarrier) {
    show_all(thread);
  }
  meeting.arrived |= 1u << lane;
  if (meeting.arrived != mask) {
    thread.waits = true;
    return;
  }
  meeting.arrived = 0;
  if (finds_races_ && self.op == Op::kWarpBarrier) {
    if (mask != ~uint32_t{0}) {
      throw Fault("a barrier of a part of a warp, which the race detector does not know");
    }
    detector_.barrier(block.first_thread + thread.number / 32 * 32, 32);
  }
  complete(&threads_[first], self, mask);
  if (time_ != nullptr) {
    time_->meet_warp(times_of(&threads_[first], 32, mask), self);
  }
  for (uint32_t i = 0; i < 32; i++) {
    if ((mask >> i & 1) != 0) {
      if (i != lane) {
        ready_.push_back(first + i);
      }
      if (self.op == Op::kWarpBarrier) {
        refresh(threads_[first + i]);
      }
      release(threads_[first + i]);
    }
  }
}

// Those whose bit in the mask is set, in each 32.
std::vector<LaunchTime::Thread*> Machine::times_of(Thread* threads, uint32_t count, uint32_t mask) {
  std::vector<LaunchTime::Thread*> times;
  for (uint32_t i = 0; i < count; i++) {
    if ((mask >> i % 32 & 1) != 0) {
      times.push_back(&threads[i].time);
    }
  }
  return times;
}

namespace {

// The lane that a shuffle takes from; false if the clamp keeps it in its own.
bool source(const Instruction& self, uint32_t lane, uint32_t by, uint32_t clamp, uint32_t* from) {
  const uint32_t segment = clamp >> 8 & 31;
  const uint32_t least = lane & segment;
  const uint32_t bound = least | (clamp & 31 & ~segment);
  bool inside = false;
  switch (self.op) {
    case Op::kShuffleUp:
      inside = lane >= by + bound;
      *from = lane - by;
      break;
    case Op::kShuffleDown:
      *from = lane + by;
      inside = *from <= bound;
      break;
    case Op::kShuffleXor:
      *from = lane ^ by;
      inside = *from <= bound;
      break;
    default:
      *from = least | (by & ~segment);
      inside = *from <= bound;
  }
  *from = inside ? *from : lane;
  return inside;
}

}  // namespace

// Gives every lane its result.
void Machine::complete(Thread* lanes, const Instruction& self, uint32_t mask) {
  uint64_t united = 0;
  bool all = true;
  uint8_t undefined = 0;
  for (uint32_t lane = 0; lane < 32; lane++) {
    if ((mask >> lane & 1) != 0) {
      const Value& given = lanes[lane].given[0];
      undefined |= given.undefined & (self.op == Op::kReduceOr ? 15 : 1);
      united |= self.op == Op::kReduceOr ? given.bits : (given.bits & 1) << lane;
      all = all && (given.bits & 1) != 0;
    }
  }
  for (uint32_t lane = 0; lane < 32; lane++) {
    Thread& thread = lanes[lane];
    if ((mask >> lane & 1) == 0 || self.op == Op::kWarpBarrier) {
      continue;
    }
    Value result{united & 0xffffffff, undefined != 0 ? uint8_t{15} : uint8_t{0}};
    if (self.op == Op::kAny || self.op == Op::kAll) {
      result = {self.op == Op::kAny ? united != 0 : all, undefined};
    } else if (self.op >= Op::kShuffleUp && self.op <= Op::kShuffleFrom) {
      const auto by = static_cast<uint32_t>(defined(thread.given[1], {32, false})) & 31;
      const auto clamp = static_cast<uint32_t>(defined(thread.given[2], {32, false}));
      uint32_t from = 0;
      const bool inside = source(self, lane, by, clamp, &from);
      if ((mask >> from & 1) == 0) {
        throw Fault("a value of a lane that does not take part");
      }
      result = lanes[from].given[0];
      if (self.outs == 2) {
        write(thread, self.out[1], {inside ? uint64_t{1} : 0, 0});
      }
    }
    write(thread, self.out[0], result);
  }
}

}  // namespace ptx
