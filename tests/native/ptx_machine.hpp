// Executes the kernels of a PTX module: every thread has its own program counter and runs a random
// number of instructions at a time, in random order; several thread blocks are resident.
//
// A Fault says where the program does what a device forbids, or leaves to chance:
//   - an access outside of the memory, or not aligned to its size, in any space;
//   - a branch, an address or an operand of an atomic that depends on bytes nothing was written to;
//   - threads of a block at different barriers, or at one that others have missed by their end;
//   - lanes of a warp at different operations, under a mask without themselves or with lanes that
//     have ended; a value taken from a lane that does not take part;
//   - threads that wait for others for ever, and a launch without end.
// Data races are found as race_detector.hpp says. Stores become visible late and in any order that
// fences and barriers allow, and strong loads may give older values (ptx_stores.cpp); the host sees
// stores later still (ptx_host.hpp).
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check.hpp"
#include "ptx_arithmetic.hpp"
#include "ptx_host.hpp"
#include "ptx_memory.hpp"
#include "ptx_module.hpp"
#include "ptx_time.hpp"
#include "race_clocks.hpp"

namespace ptx {

struct Grid {
  Kernel* kernel;
  uint32_t blocks;
  std::vector<uint8_t> parameters;
};

// Copies the parameters as cuLaunchKernel does.
Grid make_grid(Kernel& kernel, uint32_t blocks, void* const* parameters);

class Machine {
 public:
  Machine(Memory& memory, bool finds_races) : memory_(memory), finds_races_(finds_races) {}

  HostView host;

  void seed(uint64_t seed) { random_ = TestRandom(seed); }

  // Counts the time of launches of one block, until it gets null.
  void count_time(LaunchTime* time) { time_ = time; }

  // Runs all grids at once, each block with so many threads. The blocks of the first are resident
  // together with all blocks of the others.
  void run(const std::vector<Grid>& grids, uint32_t threads);

  // Lines of the PTX.
  race::Races take_races() { return detector_.take(); }

 private:
  struct Block;

  // A store, or an atomic without a result, that only its thread sees.
  struct Pending {
    Bytes to;
    Value value;
    uint32_t bytes;
    const Instruction* self;
    bool held = false;  // until the thread waits for it, or there are too many

    bool overlaps(const uint8_t* other, uint32_t count) const;
  };

  struct Thread {
    Block* block = nullptr;
    uint32_t number = 0;  // in the block
    uint32_t pc = 0;
    bool waits = false;
    bool ended = false;
    Value given[5];  // at a meeting
    std::vector<Pending> pending;
    uint64_t fresh = 0;                                  // the time of its last fence or barrier
    std::unordered_map<const uint8_t*, uint64_t> known;  // of a word: the time of what it has seen
    std::vector<uint64_t> bits;
    std::vector<uint8_t> undefined;
    std::vector<uint8_t> local;
    std::vector<uint8_t> local_undefined;
    LaunchTime::Thread time;
  };

  // What a word was before a strong store or an atomic.
  struct Past {
    uint64_t until;
    Value value;
    uint32_t bytes;
  };

  // Threads that wait for each other at an instruction.
  struct Meeting {
    uint32_t pc = 0;
    uint32_t mask = 0;     // of lanes
    uint32_t arrived = 0;  // a number, or lanes
  };

  struct Block {
    const Grid* grid = nullptr;
    uint32_t index = 0;
    uint32_t first_thread = 0;  // number in the launch
    uint32_t place = 0;         // its threads are those from place * threads
    uint32_t ended = 0;
    Meeting barrier;
    std::vector<Meeting> warps;
    std::vector<uint8_t> shared;
    std::vector<uint8_t> shared_undefined;
  };

  void enter(uint32_t place, const Grid& grid, uint32_t index, uint32_t first_thread);
  void advance(Thread& thread, uint32_t quantum);
  void execute(Thread& thread, const Instruction& self);
  void access(Thread& thread, const Instruction& self);
  Bytes reach(Thread& thread, const Instruction& self, uint64_t address, uint64_t bytes);
  void watch(const Instruction& self, const uint8_t* data, uint32_t bytes);
  void change(Thread& thread, const Instruction& self, const Bytes& bytes);
  void store_later(Thread& thread, const Pending& store);
  void show_one(Thread& thread);
  void show_from(Thread& thread, size_t shown, bool forced);
  void show_all(Thread& thread);
  void show_those_of(Thread& thread, const uint8_t* data, uint32_t bytes, bool atomics_only);
  void show(Thread& thread, const Pending& pending);
  static void put(const Bytes& to, Value value, uint32_t bytes);
  static Value load(const Thread& thread, const Bytes& from, uint32_t bytes);
  void remember(Thread& thread, const Bytes& word, uint32_t bytes);
  Value older(Thread& thread, const Bytes& word, uint32_t bytes, Value newest);
  void refresh(Thread& thread);
  static uint64_t changed(const Instruction& self, uint64_t old, uint64_t given, uint64_t swapped);
  void end(Thread& thread);
  void meet_block(Thread& thread, const Instruction& self);
  void meet_warp(Thread& thread, const Instruction& self);
  void complete(Thread* lanes, const Instruction& self, uint32_t mask);
  std::vector<LaunchTime::Thread*> times_of(Thread* threads, uint32_t count, uint32_t mask);
  void release(Thread& thread);

  Value read(const Thread& thread, const Operand& operand) const {
    return operand.number == kLiteral
               ? Value{operand.value, 0}
               : Value{thread.bits[operand.number], thread.undefined[operand.number]};
  }
  static void write(Thread& thread, const Operand& operand, Value value) {
    thread.bits[operand.number] = value.bits;
    thread.undefined[operand.number] = value.undefined;
  }
  static uint64_t defined(Value value, Type type) {
    if ((value.undefined & bytes_of(type)) != 0) {
      throw Fault("depends on bytes that nothing was written to");
    }
    return value.bits & type.mask();
  }

  Memory& memory_;
  const bool finds_races_;
  TestRandom random_{1};
  race::Detector detector_;
  const Grid* main_ = nullptr;  // of the launch, not of those beside it
  uint64_t now_ = 0;            // of strong stores
  std::unordered_map<const uint8_t*, std::vector<Past>> past_;
  LaunchTime* time_ = nullptr;
  uint32_t threads_per_block_ = 0;
  std::vector<Thread> threads_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> ready_;
};

}  // namespace ptx
