// Streams and events of the fake CUDA driver, and the copies and fills that wait in streams.

#include <algorithm>
#include <chrono>
#include <cstring>

#include "fake_cuda_state.hpp"

using namespace fake_cuda;

EXPORT CUresult cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return in_context("cuStreamCreate", [=](Driver& owner) -> CUresult {
    if (flags != 1 || priority > 0 || priority < -5) {
      return kInvalidValue;
    }
    owner.streams.push_back(std::make_shared<Stream>());
    *stream = new Handle(owner.streams.back());
    return kSuccess;
  });
}

EXPORT CUresult cuStreamDestroy_v2(void* stream) {
  return in_context("cuStreamDestroy", [=](Driver& owner) -> CUresult {
    if (!handle(stream)->waiting.empty()) {
      owner.refuse("a stream is destroyed with work pending");
    }
    owner.streams.erase(std::find(owner.streams.begin(), owner.streams.end(), handle(stream)));
    delete static_cast<Handle*>(stream);
    return kSuccess;
  });
}

EXPORT CUresult cuStreamSynchronize(void* stream) {
  return in_context("cuStreamSynchronize", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    if (owner.hangs && !handle(stream)->waiting.empty()) {
      owner.refuse("a call waits for ever");
    }
    owner.run_until(*handle(stream), handle(stream)->submitted);
    return owner.sticky;
  });
}

EXPORT CUresult cuStreamQuery(void* stream) {
  return in_context("cuStreamQuery", [=](Driver& owner) -> CUresult {
    if (!owner.hangs) {
      owner.run_some(*handle(stream));
    }
    return owner.sticky != kSuccess          ? owner.sticky
           : handle(stream)->waiting.empty() ? kSuccess
                                             : kNotReady;
  });
}

EXPORT CUresult cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return in_context("cuStreamWaitEvent", [=](Driver& owner) -> CUresult {
    if (stream == nullptr || event == nullptr) {
      return kInvalidHandle;
    }
    const Event& awaited = event_of(event);
    owner.submit(handle(stream),
                 {[&owner, other = awaited.stream, position = awaited.position]() -> const char* {
                    if (other != nullptr) {
                      owner.run_until(*other, position);
                    }
                    return nullptr;
                  },
                  {}});
    return kSuccess;
  });
}

EXPORT CUresult cuEventCreate(void** event, unsigned flags) {
  return in_context("cuEventCreate", [=](Driver& owner) -> CUresult {
    owner.events++;
    auto* created = new std::shared_ptr<Event>(std::make_shared<Event>());
    (*created)->timed = (flags & kWithoutTiming) == 0;
    *event = created;
    return kSuccess;
  });
}

EXPORT CUresult cuEventDestroy_v2(void* event) {
  return in_context("cuEventDestroy", [=](Driver& owner) -> CUresult {
    owner.events--;
    delete static_cast<std::shared_ptr<Event>*>(event);
    return kSuccess;
  });
}

EXPORT CUresult cuEventRecord(void* event, void* stream) {
  return in_context("cuEventRecord", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    const std::shared_ptr<Event>& recorded = *static_cast<std::shared_ptr<Event>*>(event);
    const Event recording{
        recorded->timed, handle(stream), handle(stream)->submitted + 1, false, {}};
    *recorded = recording;
    owner.submit(handle(stream),
                 {[recorded, recording]() -> const char* {
                    if (recorded->stream == recording.stream &&
                        recorded->position == recording.position) {  // not recorded again since
                      recorded->passed = true;
                      recorded->at = std::chrono::steady_clock::now();
                    }
                    return nullptr;
                  },
                  {}});
    return kSuccess;
  });
}

EXPORT CUresult cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return in_context("cuEventElapsedTime", [=](Driver&) -> CUresult {
    const Event& first = event_of(from);
    const Event& second = event_of(to);
    if (first.stream == nullptr || second.stream == nullptr || !first.timed || !second.timed) {
      return kInvalidHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(second.at - first.at).count();
    return first.passed && second.passed ? kSuccess : kNotReady;
  });
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return in_context("cuMemcpyAsync", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    if (!owner.reachable(to, bytes) || !owner.reachable(from, bytes)) {
      return owner.sticky = kIllegalAddress;
    }
    owner.submit(handle(stream), {[=]() -> const char* {
                                    std::memmove(pointer(to), pointer(from), bytes);
                                    written_memory(to, bytes);
                                    return nullptr;
                                  },
                                  {to, from}});
    return kSuccess;
  });
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes,
                                void* stream) {
  return in_context("cuMemsetD8Async", [=](Driver& owner) -> CUresult {
    if (!owner.contains(owner.device, memory, bytes)) {
      return owner.sticky = kIllegalAddress;
    }
    owner.submit(handle(stream), {[=]() -> const char* {
                                    std::memset(pointer(memory), value, bytes);
                                    written_memory(memory, bytes);
                                    return nullptr;
                                  },
                                  {memory}});
    return kSuccess;
  });
}
