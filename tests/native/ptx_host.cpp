#include "ptx_host.hpp"

#include <algorithm>
#include <cstring>

namespace ptx {
namespace {

constexpr size_t kMostLate = 48;

}  // namespace

void HostView::add(const void* memory, uint64_t bytes) {
  const auto* data = static_cast<const uint8_t*>(memory);
  pieces_[data].assign(data, data + bytes);
}

void HostView::remove(const void* memory) {
  const auto piece = pieces_.find(static_cast<const uint8_t*>(memory));
  if (piece == pieces_.end()) {
    return;
  }
  const uint8_t* begin = piece->first;
  const uint8_t* end = begin + piece->second.size();
  late_.erase(std::remove_if(late_.begin(), late_.end(),
                             [=](const Late& late) { return late.to >= begin && late.to < end; }),
              late_.end());
  pieces_.erase(piece);
}

void HostView::store(const uint8_t* to, uint64_t bits, uint32_t bytes, bool beside,
                     TestRandom& random) {
  size_t offset = 0;
  if (around(to, bytes, &offset) == nullptr) {
    return;
  }
  late_.push_back({to, bits, bytes, beside, random.below(2) == 0});
  if (late_.size() > kMostLate) {
    show_from(random.below(kMostLate), true);
  }
}

void HostView::show_one(TestRandom& random) {
  show_from(random.below(static_cast<uint32_t>(late_.size())), false);
}

// Shows a store, or the first before it that must be shown earlier; not one that is held, unless it
// is forced.
void HostView::show_from(size_t shown, bool forced) {
  for (size_t i = 0; i < shown; i++) {
    const Late& later = late_[shown];
    if (late_[i].to < later.to + later.bytes && later.to < late_[i].to + late_[i].bytes) {
      shown = i;
      i = ~size_t{0};  // from the first again
    }
  }
  if (forced || !late_[shown].held) {
    show(shown);
  }
}

void HostView::show_all() {
  while (!late_.empty()) {
    show(0);
  }
}

bool HostView::sees_all_of_the_stream() const {
  return std::all_of(late_.begin(), late_.end(), [](const Late& late) { return late.beside; });
}

void HostView::show(size_t shown) {
  const Late store = late_[shown];
  late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(shown));
  size_t offset = 0;
  std::vector<uint8_t>* piece = around(store.to, store.bytes, &offset);
  if (piece != nullptr) {
    std::memcpy(piece->data() + offset, &store.bits, store.bytes);
    if (seen) {
      seen();
    }
  }
}

std::vector<uint8_t>* HostView::around(const uint8_t* to, uint32_t bytes, size_t* offset) {
  auto next = pieces_.upper_bound(to);
  if (next == pieces_.begin()) {
    return nullptr;
  }
  --next;
  *offset = static_cast<size_t>(to - next->first);
  return *offset + bytes <= next->second.size() ? &next->second : nullptr;
}

}  // namespace ptx
