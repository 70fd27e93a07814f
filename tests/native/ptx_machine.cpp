#include "ptx_machine.hpp"

#include <algorithm>
#include <cstring>

namespace ptx {
namespace {

constexpr uint32_t kMostResident = 4;
constexpr uint64_t kMostInstructions = uint64_t{1} << 32;  // of a launch

}  // namespace

Grid make_grid(Kernel& kernel, uint32_t blocks, void* const* parameters) {
  Grid grid{&kernel, blocks, std::vector<uint8_t>(kernel.parameter_bytes)};
  for (size_t i = 0; i < kernel.parameters.size(); i++) {
    const Variable& parameter = kernel.parameters[i];
    std::memcpy(grid.parameters.data() + parameter.offset, parameters[i], parameter.bytes);
  }
  return grid;
}

void Machine::run(const std::vector<Grid>& grids, uint32_t threads) {
  std::vector<std::pair<const Grid*, uint32_t>> blocks;
  for (size_t i = grids.size(); i-- > 0;) {
    if (threads == 0 || threads % 32 != 0 || threads > grids[i].kernel->most_threads) {
      throw Fault(grids[i].kernel->name + " is launched with " + std::to_string(threads) +
                  " threads in a block");
    }
    grids[i].kernel->launches++;
    for (uint32_t block = 0; block < grids[i].blocks; block++) {
      blocks.emplace_back(&grids[i], block);
    }
  }
  const auto total = static_cast<uint32_t>(blocks.size());
  const uint32_t beside = total - grids[0].blocks;
  const uint32_t resident = beside + 1 + random_.below(std::min(kMostResident, grids[0].blocks));
  threads_per_block_ = threads;
  const uint32_t places = std::min(resident, total);
  if (threads_.size() < size_t{places} * threads) {
    threads_.resize(size_t{places} * threads);
  }
  blocks_.resize(places);
  ready_.clear();
  main_ = grids.data();
  now_ = 0;
  past_.clear();
  if (finds_races_) {
    detector_.begin(total * threads);
  }
  if (time_ != nullptr) {
    if (total != 1) {
      throw Fault("the time of a launch of more than one block");
    }
    time_->begin(threads);
  }
  uint32_t next = 0;
  for (; next < places; next++) {
    enter(next, *blocks[next].first, blocks[next].second, next * threads);
  }
  const uint32_t quanta[] = {1, 8, 64, 1024};
  const uint32_t quantum = quanta[random_.below(4)];
  const uint32_t bias = 8 * random_.below(2);
  uint64_t executed = 0;
  for (uint32_t left = total; left > 0;) {
    if (ready_.empty()) {
      throw Fault("threads of " + grids[0].kernel->name + " wait for others for ever");
    }
    if (executed > kMostInstructions) {
      throw Fault(grids[0].kernel->name + " does not end");
    }
    if (random_.below(16) >= bias) {
      std::swap(ready_[random_.below(static_cast<uint32_t>(ready_.size()))], ready_.back());
    }
    const uint32_t current = ready_.back();
    Thread& thread = threads_[current];
    const uint32_t steps = 1 + random_.below(quantum);
    executed += steps;
    if (finds_races_) {
      detector_.enter(thread.block->first_thread + thread.number);
    }
    advance(thread, steps);
    if (!thread.pending.empty() && random_.below(4) == 0) {
      show_one(thread);
    }
    if (!host.sees_all() && random_.below(16) == 0) {
      host.show_one(random_);
    }
    if (thread.waits || thread.ended) {
      // A meeting that this thread completed has added others.
      ready_.erase(std::find(ready_.begin(), ready_.end(), current));
    }
    if (thread.ended && thread.block->ended == threads) {
      left--;
      if (next < total) {
        enter(thread.block->place, *blocks[next].first, blocks[next].second, next * threads);
        next++;
      }
    }
  }
  if (finds_races_) {
    detector_.end();
  }
}

void Machine::enter(uint32_t place, const Grid& grid, uint32_t index, uint32_t first_thread) {
  const Kernel& kernel = *grid.kernel;
  Block& block = blocks_[place];
  block.grid = &grid;
  block.index = index;
  block.first_thread = first_thread;
  block.place = place;
  block.ended = 0;
  block.barrier = Meeting();
  block.warps.assign(threads_per_block_ / 32, Meeting());
  block.shared.assign(kernel.shared_bytes, 0xa5);
  block.shared_undefined.assign(kernel.shared_bytes, 1);
  if (finds_races_ && kernel.shared_bytes > 0) {
    detector_.forget(block.shared.data(), kernel.shared_bytes);
  }
  for (uint32_t number = 0; number < threads_per_block_; number++) {
    Thread& thread = threads_[size_t{place} * threads_per_block_ + number];
    thread.block = &block;
    thread.number = number;
    thread.pc = 0;
    thread.waits = thread.ended = false;
    thread.pending.clear();
    thread.fresh = 0;
    thread.known.clear();
    thread.bits.resize(std::max<size_t>(thread.bits.size(), kernel.registers));
    thread.undefined.assign(kernel.registers, 0xff);
    thread.local.assign(kernel.local_bytes, 0xa5);
    thread.local_undefined.assign(kernel.local_bytes, 1);
    if (time_ != nullptr) {
      LaunchTime::begin(thread.time, kernel.registers);
    }
    const uint64_t special[] = {number, index, threads_per_block_, grid.blocks};
    for (uint32_t i = 0; i < kSpecialRegisters; i++) {
      write(thread, {i, 0}, {special[i], 0});
    }
    ready_.push_back(place * threads_per_block_ + number);
  }
}

void Machine::advance(Thread& thread, uint32_t quantum) {
  std::vector<Instruction>& code = thread.block->grid->kernel->code;
  const Instruction* self = nullptr;
  try {
    for (; quantum > 0 && !thread.waits && !thread.ended; quantum--) {
      self = &code[thread.pc];
      code[thread.pc].executed++;
      if (self->guard != kLiteral) {
        const bool holds = defined(read(thread, {self->guard, 0}), {1, false}) != 0;
        if (holds == self->negated) {
          thread.pc++;
          if (time_ != nullptr) {
            time_->skip(thread.time, *self);
          }
          continue;
        }
      }
      if (!thread.pending.empty() && (self->op == Op::kFence || self->op == Op::kReturn)) {
        for (Pending& pending : thread.pending) {
          pending.held = false;
        }
        return;  // waits until all its stores are visible
      }
      if (time_ != nullptr) {
        time_->issue(thread.time, *self, thread.pc);
      }
      if (self->op == Op::kBranch) {
        thread.pc = self->target;
      } else {
        execute(thread, *self);
      }
    }
  } catch (const Fault& fault) {
    throw Fault(std::string(fault.what()) + ": " + *self->opcode + " of " +
                thread.block->grid->kernel->name + ", PTX line " + std::to_string(self->line) +
                ", block " + std::to_string(thread.block->index) + ", thread " +
                std::to_string(thread.number));
  }
}

void Machine::execute(Thread& thread, const Instruction& self) {
  switch (self.op) {
    case Op::kReturn:
      end(thread);
      return;
    case Op::kFence:
      if (finds_races_) {
        detector_.fence();
      }
      refresh(thread);
      if (self.of_system) {
        host.show_all();
      }
      break;
    case Op::kLoad:
    case Op::kStore:
    case Op::kAtomicAdd:
    case Op::kAtomicMin:
    case Op::kAtomicMax:
    case Op::kAtomicCas:
      access(thread, self);
      break;
    case Op::kUnpack: {
      const Value whole = read(thread, self.in[0]);
      const uint32_t half = self.type.bits / 2u;
      const auto bytes = static_cast<uint8_t>((1u << half / 8) - 1);
      const uint64_t mask = (uint64_t{1} << half) - 1;
      write(thread, self.out[0],
            {whole.bits & mask, static_cast<uint8_t>(whole.undefined & bytes)});
      write(thread, self.out[1],
            {whole.bits >> half & mask, static_cast<uint8_t>(whole.undefined >> half / 8 & bytes)});
      break;
    }
    case Op::kBlockBarrier:
      meet_block(thread, self);
      return;
    default: {
      if (self.op > Op::kBlockBarrier) {
        meet_warp(thread, self);
        return;
      }
      Value in[5];
      for (int i = 0; i < self.ins; i++) {
        in[i] = read(thread, self.in[i]);
      }
      write(thread, self.out[0], compute(self, in));
    }
  }
  thread.pc++;
}

// ---- memory -------------------------------------------------------------------------------------

Bytes Machine::reach(Thread& thread, const Instruction& self, uint64_t address, uint64_t bytes) {
  if (address % bytes != 0) {
    throw Fault("an access that is not aligned");
  }
  if (self.space == Space::kGlobal) {
    return memory_.at(address, bytes);
  }
  std::vector<uint8_t>* data = &thread.local;
  std::vector<uint8_t>* undefined = &thread.local_undefined;
  if (self.space == Space::kShared) {
    data = &thread.block->shared;
    undefined = &thread.block->shared_undefined;
  } else if (self.space == Space::kParameter) {
    data = const_cast<std::vector<uint8_t>*>(&thread.block->grid->parameters);
    undefined = nullptr;
  }
  const uint64_t offset = address - kSpaceBegin;
  if (address < kSpaceBegin || bytes > data->size() || offset > data->size() - bytes) {
    throw Fault("an access outside of the memory");
  }
  return {data->data() + offset, undefined == nullptr ? nullptr : undefined->data() + offset};
}

void Machine::watch(const Instruction& self, const uint8_t* data, uint32_t bytes) {
  if (!finds_races_ || self.space == Space::kLocal || self.space == Space::kParameter) {
    return;
  }
  const bool writes = self.op != Op::kLoad;
  detector_.access(data, bytes, writes, self.strong, self.line);
  if (self.strong) {
    if (self.op != Op::kStore) {
      detector_.load(data);
    }
    if (writes) {
      detector_.store(data, self.op != Op::kStore);
    }
  }
}

void Machine::access(Thread& thread, const Instruction& self) {
  const bool narrow = self.space != Space::kGlobal && self.in[0].number == kLiteral;
  const uint64_t base = narrow ? self.in[0].value : defined(read(thread, self.in[0]), {64, false});
  const uint64_t address = base + self.offset;
  const uint32_t bytes = self.type.bytes();
  const bool atomic = self.op != Op::kLoad && self.op != Op::kStore;
  const uint32_t count = self.op == Op::kLoad ? self.outs : atomic ? 1u : self.ins - 1u;
  // Of a vector, all elements are aligned as a whole.
  const Bytes all = reach(thread, self, address, uint64_t{count} * bytes);
  if (time_ != nullptr) {
    time_->access(thread.time, thread.number, self, all.data, all.undefined == nullptr);
  }
  for (uint32_t i = 0; i < count; i++) {
    const Bytes one{all.data + i * bytes,
                    all.undefined == nullptr ? nullptr : all.undefined + i * bytes};
    watch(self, one.data, bytes);
    if (atomic) {
      change(thread, self, one);
    } else if (self.op == Op::kStore) {
      const Value value = read(thread, self.in[1 + i]);
      if (self.space == Space::kGlobal) {
        store_later(thread, {one, value, bytes, &self});
      } else {
        put(one, value, bytes);
      }
    } else {
      show_those_of(thread, one.data, bytes, true);
      Value value = load(thread, one, bytes);
      if (self.strong && self.space == Space::kGlobal) {
        value = older(thread, one, bytes, value);
      }
      if (self.type.is_signed && bytes < 8) {
        const uint32_t free = 64 - self.type.bits;
        value.bits = static_cast<uint64_t>(static_cast<int64_t>(value.bits << free) >> free);
        value.undefined = value.undefined != 0 ? 0xff : 0;
      }
      write(thread, self.out[i], value);
    }
  }
}

void Machine::change(Thread& thread, const Instruction& self, const Bytes& bytes) {
  const uint32_t size = self.type.bytes();
  const bool later = self.outs == 0 && self.space == Space::kGlobal;
  if (!later) {
    show_those_of(thread, bytes.data, size, false);
  }
  const Value old = load(thread, bytes, size);
  defined(old, self.type);
  const uint64_t given = defined(read(thread, self.in[1]), self.type);
  if (later) {
    store_later(thread, {bytes, {given, 0}, size, &self});
    return;
  }
  const bool swaps = self.op == Op::kAtomicCas;
  const uint64_t swapped = swaps ? defined(read(thread, self.in[2]), self.type) : 0;
  if (self.space == Space::kGlobal) {
    remember(thread, bytes, size);
  }
  const Value value{changed(self, old.bits, given, swapped), 0};
  put(bytes, value, size);
  if (self.space == Space::kGlobal) {
    host.store(bytes.data, value.bits, size, thread.block->grid != main_, random_);
  }
  if (self.outs > 0) {
    write(thread, self.out[0], old);
  }
}

uint64_t Machine::changed(const Instruction& self, uint64_t old, uint64_t given, uint64_t swapped) {
  if (self.op == Op::kAtomicCas) {
    return old == given ? swapped : old;
  }
  Instruction as = self;
  as.op = self.op == Op::kAtomicAdd ? Op::kAdd : self.op == Op::kAtomicMin ? Op::kMin : Op::kMax;
  as.ins = 2;
  const Value in[2] = {{old, 0}, {given, 0}};
  return compute(as, in).bits;
}

}  // namespace ptx
