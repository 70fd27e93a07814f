// Benchmark tools: memory, timers, and a device pool driven with the launch geometry of production.
// The kernels must be included before this header.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "../../native/device_pool_operations.hpp"
#include "benchmark_report.hpp"
#include "cuda_device.hpp"
#include "kvasir/block_pool.hpp"

namespace kvasir {

// An array in device memory.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    upload(values.data(), values.size());
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { CUDA_CHECK(cudaFree(data_)); }

  T* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  void upload(const T* values, size_t count) {
    CHECK(count <= count_);
    CUDA_CHECK(cudaMemcpy(data_, values, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    CUDA_CHECK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// An array in pinned host memory, zeroed.
template <typename T>
class PinnedArray {
 public:
  explicit PinnedArray(size_t count) {
    CUDA_CHECK(cudaMallocHost(&data_, count * sizeof(T)));
    std::memset(static_cast<void*>(data_), 0, count * sizeof(T));
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { CUDA_CHECK(cudaFreeHost(data_)); }

  T* data() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
};

class Stream {
 public:
  enum class Priority { kLowest, kHighest };

  explicit Stream(Priority priority) {
    int lowest = 0;
    int highest = 0;
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                            priority == Priority::kLowest ? lowest : highest));
    CUDA_CHECK(cudaEventCreate(&begin_));
    CUDA_CHECK(cudaEventCreate(&end_));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    CUDA_CHECK(cudaEventDestroy(end_));
    CUDA_CHECK(cudaEventDestroy(begin_));
    CUDA_CHECK(cudaStreamDestroy(stream_));
  }

  cudaStream_t get() const { return stream_; }
  void synchronise() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  bool done() const {
    const cudaError_t state = cudaStreamQuery(stream_);
    CHECK(state == cudaSuccess || state == cudaErrorNotReady);
    return state == cudaSuccess;
  }

  // Device time, in seconds, of the work that `work` submits to this stream.
  double seconds(const std::function<void()>& work) {
    CUDA_CHECK(cudaEventRecord(begin_, stream_));
    work();
    CUDA_CHECK(cudaEventRecord(end_, stream_));
    CUDA_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds / 1e3;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_;
  cudaEvent_t end_;
};

inline double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A pool of a device on its own stream. Requests are staged in pinned memory. Either every phase is
// a launch, or all operations until finish() are one.
class BenchmarkPool {
 public:
  enum class Launches { kOfPhases, kOne };

  BenchmarkPool(const PoolShape& shape, uint32_t multiprocessors, uint32_t most_requests,
                Stream::Priority priority)
      : wide_blocks_(4 * multiprocessors),
        stream_(priority),
        memory_(device_pool_bytes(shape)),
        page_(1),
        ring_(event_ring_bytes(shape)),
        results_(4),
        staged_(most_requests * kRequestBytes),
        requests_(most_requests * kRequestBytes) {
    CHECK(device_pool_supports(shape));
    wide(kvasir_pool_initialise, pool(), shape, page_.data(),
         reinterpret_cast<EventRingHead*>(ring_.data()));
    stream_.synchronise();
  }

  const DevicePool* view() { return pool(); }
  const OccupancyPage& page() const { return page_[0]; }
  Stream& stream() { return stream_; }

  template <typename Kernel, typename... Arguments>
  void wide(Kernel kernel, Arguments... arguments) {
    launch(kernel, wide_blocks_, 256, arguments...);
  }
  template <typename Kernel, typename... Arguments>
  void one_block(Kernel kernel, Arguments... arguments) {
    launch(kernel, 1, 256, arguments...);
  }

  void set_launches(Launches launches) { launches_ = launches; }

  // Submits a batch; the results are available after finish().
  void lease(const std::vector<LeaseRequest>& requests) {
    if (add(PoolOperationKind::kLease, 0, requests)) {
      return;
    }
    LeaseRequest* there = upload(0, requests);
    submit_lease(*this, pool(), there, count(requests), results_.data());
    CUDA_CHECK(cudaMemcpyAsync(staged_.data(), there, requests.size() * sizeof(LeaseRequest),
                               cudaMemcpyDeviceToHost, stream_.get()));
  }
  void extend(const std::vector<ExtendRequest>& requests) {
    if (add(PoolOperationKind::kExtend, 1, requests)) {
      return;
    }
    ExtendRequest* there = upload(1, requests);
    submit_extend(*this, pool(), there, count(requests), results_.data() + 1);
    CUDA_CHECK(cudaMemcpyAsync(staged_.data() + requests_.bytes() / 4, there,
                               requests.size() * sizeof(ExtendRequest), cudaMemcpyDeviceToHost,
                               stream_.get()));
  }
  void commit(const std::vector<CommitRequest>& requests) {
    if (add(PoolOperationKind::kCommit, 2, requests)) {
      return;
    }
    submit_commit(*this, pool(), upload(2, requests), count(requests), results_.data() + 2);
  }
  void release(const std::vector<int32_t>& leases) {
    if (add(PoolOperationKind::kRelease, 3, leases)) {
      return;
    }
    submit_release(*this, pool(), upload(3, leases), count(leases), results_.data() + 3);
  }

  // Waits, and checks that no submitted operation failed.
  void finish() {
    if (added_ > 0) {
      launch(kvasir_pool_submission, 1, 512, view(),
             reinterpret_cast<StagedWords*>(requests_.data()),
             reinterpret_cast<const StagedWords*>(staged_.data()),
             static_cast<uint32_t>(requests_.bytes() / sizeof(StagedWords)), added_, operations_);
      added_ = 0;
    }
    stream_.synchronise();
    for (size_t i = 0; i < 4; i++) {
      CHECK(results_[i].error == PoolError::kNone);
    }
  }

  // A result of the last lease batch.
  const LeaseRequest& answer(size_t i) const {
    return reinterpret_cast<const LeaseRequest*>(staged_.data())[i];
  }

 private:
  // Size of one entry, the largest of the four kinds.
  static constexpr size_t kKindBytes = sizeof(LeaseRequest);
  static constexpr size_t kRequestBytes = 4 * kKindBytes;

  DevicePool* pool() { return reinterpret_cast<DevicePool*>(memory_.data()); }

  template <typename T>
  static uint32_t count(const std::vector<T>& values) {
    return static_cast<uint32_t>(values.size());
  }

  // Adds an operation to the one launch; false if every phase is a launch.
  template <typename T>
  bool add(PoolOperationKind kind, size_t place, const std::vector<T>& values) {
    if (launches_ == Launches::kOfPhases) {
      return false;
    }
    const size_t at = requests_.bytes() / 4 * place;
    CHECK(values.size() * sizeof(T) <= requests_.bytes() / 4);
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(staged_.data() + at));
    operations_.operations[added_++] = {requests_.data() + at, staged_.data() + at,
                                        results_.data() + place, kind, count(values)};
    return true;
  }

  // One operation of each kind may be in flight.
  template <typename T>
  T* upload(size_t kind, const std::vector<T>& values) {
    const size_t at = requests_.bytes() / 4 * kind;
    CHECK(values.size() * sizeof(T) <= requests_.bytes() / 4);
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(staged_.data() + at));
    CUDA_CHECK(cudaMemcpyAsync(requests_.data() + at, staged_.data() + at,
                               values.size() * sizeof(T), cudaMemcpyHostToDevice, stream_.get()));
    return reinterpret_cast<T*>(requests_.data() + at);
  }

  template <typename Kernel, typename... Arguments>
  void launch(Kernel kernel, uint32_t grid, uint32_t threads, Arguments... arguments) {
    kernel<<<grid, threads, 0, stream_.get()>>>(arguments...);
    CUDA_CHECK(cudaGetLastError());
  }

  const uint32_t wide_blocks_;
  Stream stream_;
  DeviceArray<unsigned char> memory_;
  PinnedArray<OccupancyPage> page_;
  PinnedArray<unsigned char> ring_;
  PinnedArray<PoolResult> results_;
  PinnedArray<unsigned char> staged_;
  DeviceArray<unsigned char> requests_;
  Launches launches_ = Launches::kOfPhases;
  PoolOperations operations_{};
  uint32_t added_ = 0;
};

// The CPU pool with the same interface; every call is synchronous.
class CpuBenchmarkPool {
 public:
  explicit CpuBenchmarkPool(const PoolShape& shape) : pool_(shape) {}

  void lease(std::vector<LeaseRequest> requests) {
    answers_ = std::move(requests);
    check(pool_.lease(answers_.data(), static_cast<uint32_t>(answers_.size())));
  }
  void extend(std::vector<ExtendRequest> requests) {
    check(pool_.extend(requests.data(), static_cast<uint32_t>(requests.size())));
  }
  void commit(const std::vector<CommitRequest>& requests) {
    check(pool_.commit(requests.data(), static_cast<uint32_t>(requests.size())));
  }
  void release(const std::vector<int32_t>& leases) {
    check(pool_.release(leases.data(), static_cast<uint32_t>(leases.size())));
  }
  void finish() {}
  const LeaseRequest& answer(size_t i) const { return answers_[i]; }
  const BlockPool& pool() const { return pool_; }

 private:
  static void check(PoolResult result) { CHECK(result.error == PoolError::kNone); }

  BlockPool pool_;
  std::vector<LeaseRequest> answers_;
};

}  // namespace kvasir
