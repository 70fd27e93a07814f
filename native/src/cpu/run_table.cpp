#include "kvasir/run_table.hpp"

#include <algorithm>

namespace kvasir {

namespace {

constexpr uint32_t kPageLog2 = 16;  // bytes of a page of an arena
constexpr uint64_t kFewestSlots = 64;

}  // namespace

RunTable::RunTable()
    : granules_(sizeof(Granule), kPageLog2 - 6),
      runs_(sizeof(Run), kPageLog2 - 6),
      beginnings_(std::make_unique<Beginnings>(kFewestSlots)),
      shown_beginnings_(beginnings_.get()) {
  for (uint32_t i = 0; i < kClasses; ++i) {
    const uint32_t log2 = 5 + i;
    arrays_.push_back(std::make_unique<PagedArena>(kSmallestArrayBytes << i,
                                                   log2 < kPageLog2 ? kPageLog2 - log2 : 0));
  }
}

RunTable::~RunTable() = default;

// ---- readers and the writer ----

void RunTable::blocks(const Run& run, uint32_t offset, uint32_t count, uint32_t* numbers) const {
  uint32_t index = offset / kGranuleNames;
  uint32_t slot = offset % kGranuleNames;
  for (uint32_t i = 0; i < count; ++index, slot = 0) {
    const uint32_t first = granule_number(run, index) << 3;
    for (; slot < kGranuleNames && i < count; ++slot, ++i) numbers[i] = first | slot;
  }
}

uint32_t RunTable::find(uint64_t name, uint32_t parent) const {
  const Beginnings& table = *shown_beginnings_.load(std::memory_order_acquire);
  const uint32_t tag = static_cast<uint32_t>(name >> 32);
  for (uint64_t i = place_of(name) & table.mask;; i = (i + 1) & table.mask) {
    const uint64_t slot = table.slots[i].load(std::memory_order_acquire);
    if (slot == 0) return kNone;
    if (slot == kGone || slot >> 32 != tag) continue;
    const uint32_t number = static_cast<uint32_t>(slot) - 1;
    const Run& candidate = run(number);
    if (candidate.parent == parent && candidate.length.load(std::memory_order_acquire) > 0 &&
        this->name(block(candidate, 0)) == name) {
      return number;
    }
  }
}

// A hash identifies everything before it, so matching hashes come first, and bisection finds their
// end. The run may be shortened concurrently: its granules stay valid, and their array is never
// replaced by a smaller one.
uint32_t RunTable::agreement(const Run& run, uint32_t from, const uint64_t* names,
                             uint32_t count) const {
  const uint32_t length = run.length.load(std::memory_order_acquire);
  if (length <= from || count == 0) return 0;
  uint32_t end = std::min(length - from, count);
  if (name(block(run, from + end - 1)) == names[end - 1]) return end;
  uint32_t equal = 0;  // this many agree; the one at end - 1 does not
  --end;
  while (equal < end) {
    const uint32_t middle = equal + (end - equal) / 2;
    if (name(block(run, from + middle)) == names[middle]) {
      equal = middle + 1;
    } else {
      end = middle;
    }
  }
  return equal;
}

// ---- the writer: runs ----

uint32_t RunTable::take(PagedArena* arena) {
  const uint32_t number = arena->take();
  used_bytes_ += arena->element_bytes();
  return number;
}

uint64_t RunTable::take_array(uint32_t array_class) {
  if (array_class >= kClasses) throw std::bad_alloc();
  return kArray | static_cast<uint64_t>(array_class) << 32 | take(arrays_[array_class].get());
}

// Grows the array from `used` to `wanted` granules. False if no array is that large.
bool RunTable::grow_granules(Run* run, uint32_t used, uint32_t wanted) {
  const uint64_t old = run->granules.load(std::memory_order_relaxed);
  if (wanted <= granule_room(old)) return true;
  uint32_t array_class = 0;
  while (array_class < kClasses && (kSmallestArrayBytes << array_class) / 4 < wanted) ++array_class;
  if (array_class == kClasses) return false;
  const uint64_t word = take_array(array_class);
  uint32_t* numbers = static_cast<uint32_t*>(array(word));
  for (uint32_t i = 0; i < used; ++i) numbers[i] = granule_number(*run, i);
  run->granules.store(word, std::memory_order_release);
  if (old & kArray) retire_array(old);
  return true;
}

uint32_t RunTable::create(uint32_t parent, uint32_t depth, const uint64_t* names, uint32_t count) {
  if (beginnings_->used * 5 > beginnings_->mask * 3) rebuild_beginnings(count_ + 1);
  const uint32_t number = take(&runs_);
  uint32_t first;
  try {
    first = take(&granules_);
  } catch (const std::bad_alloc&) {
    used_bytes_ -= sizeof(Run);
    runs_.give_back(number);
    throw;
  }
  Run* run = new (runs_.at(number)) Run{};
  run->granules.store(first, std::memory_order_relaxed);
  run->parent = parent;
  run->depth = depth;
  run->last_match.store(static_cast<uint32_t>(epochs_.current()), std::memory_order_relaxed);
  Granule& begin = granule(first);
  begin.run = number;
  begin.base = 0;
  begin.names[0] = names[0];
  run->length.store(1, std::memory_order_release);
  insert_beginning(names[0], number);
  ++count_;
  if (parent != kNoParent) {
    const Granule& before = granule_of(parent);
    Run& predecessor = this->run(before.run);
    ++predecessor.successors;
    predecessor.needed = std::max(predecessor.needed, before.base + (parent & 7) + 1);
  }
  try {
    extend(number, names + 1, count - 1);
  } catch (const std::bad_alloc&) {
    remove(number);
    throw;
  }
  return number;
}

uint32_t RunTable::extend(uint32_t number, const uint64_t* names, uint32_t count) {
  Run& run = this->run(number);
  if (run.shortened != 0 && run.shortened >= epochs_.oldest()) return 0;
  const uint32_t length = run.length.load(std::memory_order_relaxed);
  const uint32_t used = (length + kGranuleNames - 1) / kGranuleNames;
  const uint32_t wanted = (length + count + kGranuleNames - 1) / kGranuleNames;
  if (!grow_granules(&run, used, wanted)) return 0;
  const uint64_t word = run.granules.load(std::memory_order_relaxed);
  for (uint32_t i = used; i < wanted; ++i) {
    uint32_t taken;
    try {
      taken = take(&granules_);
    } catch (const std::bad_alloc&) {
      for (; i > used; --i) {
        used_bytes_ -= sizeof(Granule);
        granules_.give_back(granule_number(run, i - 1));
      }
      throw;
    }
    static_cast<uint32_t*>(array(word))[i] = taken;
  }
  for (uint32_t i = 0; i < count;) {
    const uint32_t offset = length + i;
    Granule& into = granule(granule_number(run, offset / kGranuleNames));
    into.run = number;
    into.base = offset - offset % kGranuleNames;
    for (uint32_t slot = offset % kGranuleNames; slot < kGranuleNames && i < count; ++slot, ++i) {
      into.names[slot] = names[i];
    }
  }
  run.length.store(length + count, std::memory_order_release);
  return count;
}

void RunTable::shorten(uint32_t number, uint32_t length) {
  Run& run = this->run(number);
  const uint32_t before = run.length.load(std::memory_order_relaxed);
  run.length.store(length, std::memory_order_release);
  const uint32_t used = (before + kGranuleNames - 1) / kGranuleNames;
  for (uint32_t i = (length + kGranuleNames - 1) / kGranuleNames; i < used; ++i) {
    retire(Kind::kGranule, granule_number(run, i));
  }
  run.shortened = epochs_.current();
  something_went_ = true;
}

void RunTable::remove(uint32_t number) {
  Run& run = this->run(number);
  erase_beginning(name(block(run, 0)), number);
  --count_;
  if (run.parent != kNoParent) {
    Run& predecessor = this->run(granule_of(run.parent).run);
    if (--predecessor.successors == 0) predecessor.needed = 0;
  }
  const uint32_t length = run.length.load(std::memory_order_relaxed);
  run.length.store(0, std::memory_order_release);
  for (uint32_t i = 0; i * kGranuleNames < length; ++i) {
    retire(Kind::kGranule, granule_number(run, i));
  }
  const uint64_t granules = run.granules.load(std::memory_order_relaxed);
  if (granules & kArray) retire_array(granules);
  const uint64_t holders = run.holders.load(std::memory_order_relaxed);
  if (holders & kArray) retire_array(holders);
  retire(Kind::kRun, number);
}

// ---- the writer: holders ----

std::atomic<uint64_t>* RunTable::holder(Run* run, uint32_t rank) const {
  const uint64_t word = run->holders.load(std::memory_order_relaxed);
  const uint64_t wanted = static_cast<uint64_t>(rank) + 1;
  if (!(word & kArray)) return word >> 32 == wanted ? &run->holders : nullptr;
  HolderArray& array = holder_array(word);
  const uint32_t count = array.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (array.elements[i].load(std::memory_order_relaxed) >> 32 == wanted) {
      return &array.elements[i];
    }
  }
  return nullptr;
}

std::atomic<uint64_t>* RunTable::add_holder(Run* run, uint32_t rank) {
  const uint64_t element = holder_element(rank, false, 0);
  uint64_t word = run->holders.load(std::memory_order_relaxed);
  if (word == 0) {
    run->holders.store(element, std::memory_order_release);
    ++run->live;
    return &run->holders;
  }
  if (!(word & kArray)) {
    rebuild_holders(run, 2);
    word = run->holders.load(std::memory_order_relaxed);
  }
  HolderArray* array = &holder_array(word);
  uint32_t at = array->count.load(std::memory_order_relaxed);
  if (run->live < at) {
    at = 0;
    while (array->elements[at].load(std::memory_order_relaxed) != 0) ++at;
  } else if (at == holder_room(class_of(word))) {
    rebuild_holders(run, run->live + 1);
    array = &holder_array(run->holders.load(std::memory_order_relaxed));
    at = array->count.load(std::memory_order_relaxed);
  }
  array->elements[at].store(element, std::memory_order_release);
  if (at == array->count.load(std::memory_order_relaxed)) {
    array->count.store(at + 1, std::memory_order_release);
  }
  ++run->live;
  return &array->elements[at];
}

void RunTable::remove_holder(Run* run, uint32_t rank) {
  holder(run, rank)->store(0, std::memory_order_release);
  --run->live;
  const uint64_t word = run->holders.load(std::memory_order_relaxed);
  if (!(word & kArray) || run->live * 4 >= holder_room(class_of(word))) return;
  try {
    rebuild_holders(run, run->live);
  } catch (const std::bad_alloc&) {
    // Keep the larger array.
  }
}

// Moves the holders into an array with the given room, or into the run if there is only one.
void RunTable::rebuild_holders(Run* run, uint32_t room) {
  const uint64_t old = run->holders.load(std::memory_order_relaxed);
  uint64_t word = 0;
  if (room <= 1) {
    for_each_holder(*run, [&](uint64_t element) { word = element; });
  } else {
    uint32_t array_class = 0;
    while (holder_room(array_class) < room) ++array_class;
    word = take_array(array_class);
    HolderArray& array = holder_array(word);
    uint32_t count = 0;
    for_each_holder(*run, [&](uint64_t element) {
      array.elements[count++].store(element, std::memory_order_relaxed);
    });
    array.count.store(count, std::memory_order_relaxed);
  }
  run->holders.store(word, std::memory_order_release);
  if (old & kArray) retire_array(old);
}

// ---- the writer: beginnings ----

void RunTable::insert_beginning(uint64_t name, uint32_t number) {
  Beginnings& table = *beginnings_;
  uint64_t i = place_of(name) & table.mask;
  uint64_t slot;
  while ((slot = table.slots[i].load(std::memory_order_relaxed)) != 0 && slot != kGone) {
    i = (i + 1) & table.mask;
  }
  if (slot == 0) ++table.used;
  table.slots[i].store(name >> 32 << 32 | (number + 1), std::memory_order_release);
}

void RunTable::erase_beginning(uint64_t name, uint32_t number) {
  Beginnings& table = *beginnings_;
  uint64_t i = place_of(name) & table.mask;
  while (table.slots[i].load(std::memory_order_relaxed) != (name >> 32 << 32 | (number + 1))) {
    i = (i + 1) & table.mask;
  }
  if (table.slots[(i + 1) & table.mask].load(std::memory_order_relaxed) == 0) {
    table.slots[i].store(0, std::memory_order_release);
    --table.used;
  } else {
    table.slots[i].store(kGone, std::memory_order_release);
  }
}

void RunTable::rebuild_beginnings(uint64_t runs) {
  uint64_t size = kFewestSlots;
  while (size * 2 < runs * 5) size *= 2;
  auto table = std::make_unique<Beginnings>(size);
  table.swap(beginnings_);
  const Beginnings& old = *table;
  for (uint64_t i = 0; i <= old.mask; ++i) {
    const uint64_t slot = old.slots[i].load(std::memory_order_relaxed);
    if (slot == 0 || slot == kGone) continue;
    const uint32_t number = static_cast<uint32_t>(slot) - 1;
    insert_beginning(name(block(run(number), 0)), number);
  }
  shown_beginnings_.store(beginnings_.get(), std::memory_order_release);
  old_beginnings_.emplace_back(epochs_.current(), std::move(table));
  something_went_ = true;
}

// ---- the writer: memory ----

void RunTable::retire(Kind kind, uint32_t number, uint32_t array_class) {
  retired_.push_back({epochs_.current(), number, kind, static_cast<uint8_t>(array_class)});
  used_bytes_ -= arena_of(kind, array_class).element_bytes();
  something_went_ = true;
}

void RunTable::reclaim() {
  if (something_went_) {
    epochs_.advance();
    something_went_ = false;
    const uint64_t slots = beginnings_->mask + 1;
    if (slots > kFewestSlots && count_ * 16 < slots) rebuild_beginnings(count_);
  }
  if (retired_.empty() && old_beginnings_.empty()) return;
  const uint64_t oldest = epochs_.oldest();
  while (!retired_.empty() && retired_.front().epoch < oldest) {
    const Retired& gone = retired_.front();
    arena_of(gone.kind, gone.array_class).give_back(gone.number);
    retired_.pop_front();
  }
  while (!old_beginnings_.empty() && old_beginnings_.front().first < oldest) {
    old_beginnings_.pop_front();
  }
}

uint64_t RunTable::bytes() const {
  uint64_t bytes = sizeof *this + granules_.bytes() + runs_.bytes();
  for (const auto& arena : arrays_) bytes += arena->bytes();
  bytes += (beginnings_->mask + 1) * sizeof(uint64_t);
  for (const auto& old : old_beginnings_) bytes += (old.second->mask + 1) * sizeof(uint64_t);
  return bytes + retired_.size() * sizeof(Retired);
}

}  // namespace kvasir
