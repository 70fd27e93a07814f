// Fixed-size elements addressed by number. Elements never move, and empty pages are returned to the
// system.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace kvasir {

// Numbers start at 0. One thread takes and frees; any other thread may call at() with the number of
// an element that is not free. Elements are taken from the lowest page with room, so that higher
// pages become empty.
class PagedArena {
 public:
  explicit PagedArena(size_t element_bytes, uint32_t elements_per_page_log2)
      : element_bytes_(element_bytes),
        shift_(elements_per_page_log2),
        mask_((1u << elements_per_page_log2) - 1),
        directory_(new std::atomic<std::byte*>*[kSections]()) {}
  PagedArena(const PagedArena&) = delete;
  PagedArena& operator=(const PagedArena&) = delete;
  ~PagedArena() {
    for (uint32_t page = 0; page < pages_.size(); ++page) {
      if (pages_[page].live != kAbsent) release(page);
    }
    for (uint32_t section = 0; section < kSections; ++section) delete[] directory_[section];
  }

  void* at(uint32_t number) const {
    const uint32_t page = number >> shift_;
    std::byte* base = directory_[page >> kSectionLog2][page & (kSectionPages - 1)].load(
        std::memory_order_acquire);
    return base + (number & mask_) * element_bytes_;
  }

  // Throws std::bad_alloc if memory or numbers are exhausted. The element is not cleared.
  uint32_t take() {
    while (first_ < pages_.size() && pages_[first_].live == mask_ + 1) ++first_;
    if (first_ == pages_.size()) add_page();
    Page& page = pages_[first_];
    if (page.live == kAbsent) map(first_);
    ++page.live;
    if (page.free != kNone) {
      const uint32_t index = page.free;
      std::memcpy(&page.free, at(first_ << shift_ | index), sizeof page.free);
      return first_ << shift_ | index;
    }
    return first_ << shift_ | page.fresh++;
  }

  void give_back(uint32_t number) {
    const uint32_t number_of_page = number >> shift_;
    Page& page = pages_[number_of_page];
    if (--page.live == 0) {
      release(number_of_page);
    } else {
      std::memcpy(at(number), &page.free, sizeof page.free);
      page.free = number & mask_;
    }
    if (number_of_page < first_) first_ = number_of_page;
  }

  size_t element_bytes() const { return element_bytes_; }
  size_t bytes() const { return mapped_ * (element_bytes_ << shift_) + overhead_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kAbsent = UINT32_MAX;
  static constexpr uint32_t kSectionLog2 = 9;
  static constexpr uint32_t kSectionPages = 1u << kSectionLog2;
  static constexpr uint32_t kSections = 1024;

  struct Page {
    uint32_t live = kAbsent;
    uint32_t fresh = 0;     // elements at and above this index have never been taken
    uint32_t free = kNone;  // head of the free list
  };

  void add_page() {
    const uint32_t page = static_cast<uint32_t>(pages_.size());
    if (page >> kSectionLog2 >= kSections || page >= UINT32_MAX >> shift_) throw std::bad_alloc();
    std::atomic<std::byte*>*& section = directory_[page >> kSectionLog2];
    if (section == nullptr) {
      section = new std::atomic<std::byte*>[kSectionPages]();
      overhead_ += kSectionPages * sizeof section[0];
    }
    pages_.emplace_back();
  }

  void map(uint32_t page) {
    void* memory = mmap(nullptr, element_bytes_ << shift_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    pages_[page] = {0, 0, kNone};
    directory_[page >> kSectionLog2][page & (kSectionPages - 1)].store(
        static_cast<std::byte*>(memory), std::memory_order_release);
    ++mapped_;
  }

  void release(uint32_t page) {
    std::atomic<std::byte*>& base = directory_[page >> kSectionLog2][page & (kSectionPages - 1)];
    munmap(base.load(std::memory_order_relaxed), element_bytes_ << shift_);
    base.store(nullptr, std::memory_order_relaxed);
    pages_[page] = {};
    --mapped_;
  }

  const size_t element_bytes_;
  const uint32_t shift_;
  const uint32_t mask_;
  std::unique_ptr<std::atomic<std::byte*>*[]> directory_;
  std::vector<Page> pages_;
  uint32_t first_ = 0;  // no page below it has room
  size_t mapped_ = 0;
  size_t overhead_ = kSections * sizeof(void*);
};

}  // namespace kvasir
