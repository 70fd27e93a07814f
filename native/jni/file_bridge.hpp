// Facts about files for Java, which cannot read them from a descriptor. Errors are those of errno,
// negated; nothing throws.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

// Returns a descriptor of whatever has this path, a symbolic link included, and writes its mode and
// its owner. The descriptor gives no access and opening it does not touch the file, so that neither
// a FIFO nor a device can block or react.
inline int kvasir_path_open(const char* path, int64_t* mode_and_owner) noexcept {
  const int descriptor = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    return -errno;
  }
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) {
    const int error = errno;
    close(descriptor);
    return -error;
  }
  mode_and_owner[0] = facts.st_mode;
  mode_and_owner[1] = facts.st_uid;
  return descriptor;
}

inline void kvasir_path_close(int descriptor) noexcept { close(descriptor); }

inline int64_t kvasir_user() noexcept { return geteuid(); }

inline const char* kvasir_error_text(int error) noexcept { return strerror(error); }
