// MPI for Java, through a shim that is loaded on demand: see kvasir/mpi_shim.h. One shim per
// process; it is never unloaded. Results are those of the shim.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "kvasir/mpi_shim.h"

inline const kvasir_mpi_functions*& kvasir_mpi_loaded() noexcept {
  static const struct kvasir_mpi_functions* shim = nullptr;
  return shim;
}

// Loads the shim of this path; true, or false and the problem as text.
inline bool kvasir_mpi_load(const char* path, char* problem, int problem_bytes) noexcept {
  // Otherwise UCX, which some MPI libraries use, takes SIGSEGV from the JVM as soon as it is
  // loaded.
  setenv("UCX_ERROR_SIGNALS", "", 1);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::snprintf(problem, static_cast<size_t>(problem_bytes), "%s", dlerror());
    return false;
  }
  using Entry = const struct kvasir_mpi_functions* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "kvasir_mpi_shim"));
  const struct kvasir_mpi_functions* shim = entry == nullptr ? nullptr : entry();
  if (shim == nullptr || shim->version != KVASIR_MPI_SHIM_VERSION) {
    std::snprintf(problem, static_cast<size_t>(problem_bytes), "it is no shim of version %d",
                  KVASIR_MPI_SHIM_VERSION);
    return false;
  }
  kvasir_mpi_loaded() = shim;
  return true;
}

inline int kvasir_mpi_start(int* facts, char* problem, int problem_bytes) noexcept {
  return kvasir_mpi_loaded()->start(facts, problem, problem_bytes);
}

inline int kvasir_mpi_gather(const void* sent, int bytes, void* received, int64_t timeout_ns,
                             unsigned char* present) noexcept {
  return kvasir_mpi_loaded()->gather(sent, bytes, received, timeout_ns, present);
}

inline int kvasir_mpi_gather_lengths(const void* sent, const int* lengths, void* received,
                                     int64_t timeout_ns, unsigned char* present) noexcept {
  return kvasir_mpi_loaded()->gather_lengths(sent, lengths, received, timeout_ns, present);
}

inline void kvasir_mpi_stop() noexcept { kvasir_mpi_loaded()->stop(); }

inline int kvasir_mpi_finish() noexcept { return kvasir_mpi_loaded()->finish(); }

inline void kvasir_mpi_abort(int exit_code) noexcept { kvasir_mpi_loaded()->abort(exit_code); }

inline void kvasir_mpi_explain(int result, char* text, int text_bytes) noexcept {
  kvasir_mpi_loaded()->explain(result, text, text_bytes);
}

inline void kvasir_mpi_library(char* text, int text_bytes) noexcept {
  kvasir_mpi_loaded()->library(text, text_bytes);
}
