// The scheduler of cuda_shim.hpp: the threads of a launch as fibers of one host thread, which it
// switches at random.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "check.hpp"
#include "race_detector.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

struct ShimIndex {
  uint32_t x;
};
inline ShimIndex threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

constexpr size_t kStackBytes = 64 * 1024;

enum class Primitive { kNone, kBlockBarrier, kWarpBarrier, kBallot, kShuffle, kReduceOr };

// Threads that wait for each other: a warp, or a thread block at its barrier.
struct Meeting {
  uint32_t members = 0;
  uint32_t arrived = 0;
  Primitive primitive = Primitive::kNone;
  std::vector<uint32_t> waiting;
};

struct Warp {
  Meeting meeting;
  uint64_t given[32];
  uint64_t taken[32];
};

// Ends the life of a thread block's shared memory.
struct Forget {
  void operator()(char* memory) const {
    race::leave_block(memory);
    delete[] memory;
  }
};

struct ThreadBlock {
  uint32_t launch;
  uint32_t index;
  uint32_t first_thread;  // number in the launch
  uint32_t live;
  Meeting barrier;
  std::vector<Warp> warps;
  std::unique_ptr<char[], Forget> shared;
};

struct Fiber {
  ucontext_t context;
  jmp_buf resume;
  char* stack;
  bool started = false;
  bool finished = false;
  uint32_t thread;
  ThreadBlock* block;
};

class Scheduler {
 public:
  static Scheduler& get() {
    static Scheduler scheduler;
    return scheduler;
  }

  void seed(uint64_t seed) { random_ = TestRandom(seed); }

  // Runs both launches at once; the second may have no blocks.
  void run(uint32_t threads, std::function<void()> body, uint32_t first_grid,
           std::function<void()> second_body, uint32_t second_grid) {
    CHECK(threads % 32 == 0 && threads <= 1024);
    bodies_[0] = std::move(body);
    bodies_[1] = std::move(second_body);
    grids_[0] = first_grid;
    grids_[1] = second_grid;
    const uint32_t grid = first_grid + second_grid;
    blockDim.x = threads;
    race::begin_launch(grid * threads);
    const uint32_t most = grid < kMostResident ? grid : kMostResident;
    const uint32_t resident = second_grid + 1 + random_.below(most - second_grid);
    const uint32_t biases[] = {0, 8, 15};
    bias_ = biases[random_.below(3)];
    while (fibers_.size() < static_cast<size_t>(resident) * threads) {
      add_fiber();
    }
    blocks_.resize(resident);
    uint32_t next = 0;
    for (uint32_t place = 0; place < resident; place++) {
      enter(place, next++);
    }
    uint32_t left = grid;
    while (left > 0) {
      CHECK(!ready_.empty());  // otherwise threads wait for others that have exited
      current_ = take_ready();
      resume(*fibers_[current_]);
      Fiber& fiber = *fibers_[current_];
      if (fiber.finished && --fiber.block->live == 0) {
        left--;
        if (next < grid) {
          enter(current_ / threads, next++);
        }
      }
    }
    race::end_launch();
    bodies_[0] = bodies_[1] = nullptr;
  }

  // A point where the scheduler may switch to another thread.
  void may_switch(uint32_t chance) {
    if (random_.below(chance) == 0) {
      ready_.push_back(current_);
      yield();
    }
  }

  void block_barrier() {
    ThreadBlock& block = *self().block;
    meet(block.barrier, Primitive::kBlockBarrier,
         [&block] { race::barrier(block.first_thread, blockDim.x); });
  }

  // Publishes a value; returns the values of all lanes of the warp.
  const uint64_t* exchange(Primitive primitive, uint64_t value) {
    const uint32_t thread = self().thread;
    Warp& warp = self().block->warps[thread / 32];
    warp.given[thread % 32] = value;
    meet(warp.meeting, primitive, [&] {
      std::memcpy(warp.taken, warp.given, sizeof warp.taken);
      if (primitive == Primitive::kWarpBarrier) {
        race::barrier(self().block->first_thread + thread / 32 * 32, 32);
      }
    });
    return warp.taken;
  }

  uint32_t lane() { return self().thread % 32; }

  void* shared(size_t bytes) {
    ThreadBlock& block = *self().block;
    if (!block.shared) {
      block.shared.reset(new char[bytes]);
      std::memset(block.shared.get(), 0xa5, bytes);
      race::enter_block(block.shared.get(), bytes);
    }
    return block.shared.get();
  }

 private:
  static constexpr uint32_t kMostResident = 4;

  Fiber& self() { return *fibers_[current_]; }

  template <typename Complete>
  void meet(Meeting& meeting, Primitive primitive, Complete complete) {
    CHECK(meeting.arrived == 0 || meeting.primitive == primitive);
    meeting.primitive = primitive;
    if (++meeting.arrived < meeting.members) {
      meeting.waiting.push_back(current_);
      yield();
      return;
    }
    complete();
    meeting.arrived = 0;
    ready_.insert(ready_.end(), meeting.waiting.begin(), meeting.waiting.end());
    meeting.waiting.clear();
    may_switch(2);
  }

  void add_fiber() {
    std::unique_ptr<Fiber> fiber(new Fiber);
    fiber->stack = static_cast<char*>(
        mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(fiber->stack != MAP_FAILED);
    fibers_.push_back(std::move(fiber));
  }

  void enter(uint32_t place, uint32_t index) {
    ThreadBlock& block = blocks_[place];
    // The second launch's blocks come first, so that they run concurrently with the first launch.
    block.launch = index < grids_[1] ? 1 : 0;
    block.index = block.launch == 1 ? index : index - grids_[1];
    block.first_thread = index * blockDim.x;
    block.live = blockDim.x;
    block.barrier = Meeting();
    block.barrier.members = blockDim.x;
    block.warps.assign(blockDim.x / 32, Warp());
    for (Warp& warp : block.warps) {
      warp.meeting.members = 32;
    }
    block.shared.reset();
    for (uint32_t thread = 0; thread < blockDim.x; thread++) {
      const uint32_t number = place * blockDim.x + thread;
      fibers_[number]->thread = thread;
      fibers_[number]->block = &block;
      fibers_[number]->finished = false;
      ready_.push_back(number);
    }
  }

  uint32_t take_ready() {
    if (random_.below(16) >= bias_) {
      std::swap(ready_[random_.below(static_cast<uint32_t>(ready_.size()))], ready_.back());
    }
    const uint32_t taken = ready_.back();
    ready_.pop_back();
    return taken;
  }

  static void live() {
    Scheduler& scheduler = get();
    scheduler.arrived(nullptr);
    for (;;) {
      scheduler.bodies_[scheduler.self().block->launch]();
      scheduler.self().finished = true;
      scheduler.yield();
    }
  }

  // Continues a fiber from the host's own stack, until the fiber yields.
  void resume(Fiber& fiber) {
    threadIdx.x = fiber.thread;
    blockIdx.x = fiber.block->index;
    gridDim.x = grids_[fiber.block->launch];
    race::enter_thread(fiber.block->first_thread + fiber.thread);
    if (_setjmp(host_) == 0) {
      leave(&host_fake_stack_, fiber.stack, kStackBytes);
      if (fiber.started) {
        _longjmp(fiber.resume, 1);
      }
      fiber.started = true;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack;
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, live, 0);
      setcontext(&fiber.context);
    }
    arrived(host_fake_stack_);
    race::leave_thread();
  }

  void yield() {
    void* fake_stack = nullptr;
    if (_setjmp(self().resume) == 0) {
      leave(&fake_stack, host_stack_, host_stack_bytes_);
      _longjmp(host_, 1);
    }
    arrived(nullptr);
  }

  // Announces the current stack to AddressSanitizer. Fake stacks are off, so none is passed on.
#if defined(__SANITIZE_ADDRESS__)
  static void leave(void** fake_stack, const char* stack, size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
  }
  void arrived(void* fake_stack) {
    const void* stack = nullptr;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &stack, &bytes);
    if (host_stack_ == nullptr) {
      host_stack_ = static_cast<const char*>(stack);
      host_stack_bytes_ = bytes;
    }
  }
#else
  static void leave(void**, const char*, size_t) {}
  void arrived(void*) {}
#endif

  TestRandom random_{1};
  std::function<void()> bodies_[2];
  uint32_t grids_[2];
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<ThreadBlock> blocks_;
  std::vector<uint32_t> ready_;
  uint32_t current_ = 0;
  uint32_t bias_ = 0;
  jmp_buf host_;
  void* host_fake_stack_ = nullptr;
  const char* host_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
};

}  // namespace shim
