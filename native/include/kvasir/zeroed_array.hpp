// A fixed array of zeroed pages allocated directly from the system. Pages are backed on first touch
// and freed with their owner.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

namespace kvasir {

// Large pages avoid most TLB misses of random access over many megabytes; small pages keep sparsely
// touched arrays small.
enum class PageSize { kLarge, kSmall };

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_destructible<T>::value, "the pages are dropped, not destroyed");

 public:
  // Throws std::bad_alloc if the system is out of memory.
  explicit ZeroedArray(size_t count, PageSize page_size = PageSize::kLarge)
      : bytes_(count * sizeof(T)) {
    if (bytes_ == 0) {
      return;
    }
    void* pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      throw std::bad_alloc();
    }
    if (page_size == PageSize::kLarge) {
      madvise(pages, bytes_, MADV_HUGEPAGE);
    }
    data_ = static_cast<T*>(pages);
  }
  ~ZeroedArray() {
    if (data_ != nullptr) {
      munmap(data_, bytes_);
    }
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace kvasir
