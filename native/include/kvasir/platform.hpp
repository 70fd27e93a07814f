// Differences between compilers and between host and device.
#pragma once

#include <cstddef>
#include <cstdint>

// Version of the interface between Java, the library and the kernel module; all three must be
// equal.
#define KVASIR_ABI_VERSION 1

// Marks a function shared by host and device: compiled for both by nvcc, otherwise for the host
// only. Always inlined: the hashes rely on constant propagation of lengths.
#if defined(__CUDACC__)
#define KVASIR_HD __host__ __device__ __forceinline__
#else
#define KVASIR_HD inline __attribute__((always_inline))
#endif

// On member functions that only prefetch: GCC takes such a const function for one without effects
// and, unless it is inlined, deletes calls of it. object_code_test checks what is left.
#define KVASIR_PREFETCHES __attribute__((always_inline))

namespace kvasir {

// Loads and stores of words that other threads may read or write concurrently. Relaxed is enough
// for independent words; acquire and release order a word against others.
template <typename T>
KVASIR_HD T load_relaxed(const T* p) {
#if defined(__CUDA_ARCH__)
  return *const_cast<const volatile T*>(p);
#else
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

template <typename T>
KVASIR_HD void store_relaxed(T* p, T value) {
#if defined(__CUDA_ARCH__)
  *const_cast<volatile T*>(p) = value;
#else
  __atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

KVASIR_HD void prefetch(const void* p) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

}  // namespace kvasir
