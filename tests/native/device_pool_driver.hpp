// Operations of one device pool, submitted to a Device: ShimDevice on the host, CudaDevice on a
// GPU. The kernels and one of the two must be included before this header.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "check.hpp"
#include "device_pool_operations.hpp"
#include "kvasir/event_ring.hpp"
#include "prompt.hpp"

namespace kvasir {

// The arguments of kvasir_probe().
struct ProbeArguments {
  const DevicePool* const* pools;
  uint32_t pool_count;
  const uint64_t* hashes;
  const uint32_t* offsets;
  uint32_t prompts;
  uint32_t* matched;
};

// Submits each operation on one stream, either as a launch for each phase or, chosen at random, as
// one launch. Device memory is read through copies.
template <typename Device>
class DevicePoolDriver {
 public:
  DevicePoolDriver(Device& device, const PoolShape& shape, uint64_t seed)
      : device_(device),
        shape_(shape),
        random_(seed),
        memory_(device.device_memory(device_pool_bytes(shape))),
        page_(static_cast<OccupancyPage*>(device.host_memory(sizeof(OccupancyPage)))),
        ring_(static_cast<EventRingHead*>(device.host_memory(event_ring_bytes(shape)))),
        staging_(static_cast<char*>(device.host_memory(kStagingBytes))),
        staging_there_(static_cast<char*>(device.device_memory(kStagingBytes))),
        mirror_(static_cast<char*>(std::aligned_alloc(256, rounded(device_pool_bytes(shape))))) {
    CHECK(device_pool_supports(shape));
    device_pool_view(reinterpret_cast<uintptr_t>(memory_), shape, &there_);
    device_pool_view(reinterpret_cast<uintptr_t>(mirror_.get()), shape, &here_);
    here_.page = page_;
    here_.ring = ring_;
    wide(kvasir_pool_initialise, static_cast<DevicePool*>(memory_), shape, page_, ring_);
    finish();
    published_ = true;
  }
  DevicePoolDriver(const DevicePoolDriver&) = delete;
  DevicePoolDriver& operator=(const DevicePoolDriver&) = delete;
  ~DevicePoolDriver() {
    device_.free_device(staging_there_);
    device_.free_host(staging_);
    device_.free_host(ring_);
    device_.free_host(page_);
    device_.free_device(memory_);
  }

  PoolResult lease(LeaseRequest* requests, uint32_t count) {
    if (in_one_launch()) {
      return submit(PoolOperationKind::kLease, requests, count, true);
    }
    LeaseRequest* staged = stage(requests, count);
    PoolResult* result = stage<PoolResult>(nullptr, 1);
    submit_lease(*this, view(), staged, count, result);
    return finish(staged, requests, count, result);
  }

  PoolResult extend(ExtendRequest* requests, uint32_t count) {
    if (in_one_launch()) {
      return submit(PoolOperationKind::kExtend, requests, count, true);
    }
    ExtendRequest* staged = stage(requests, count);
    PoolResult* result = stage<PoolResult>(nullptr, 1);
    submit_extend(*this, view(), staged, count, result);
    return finish(staged, requests, count, result);
  }

  PoolResult commit(CommitRequest* requests, uint32_t count) {
    PoolResult outcome{};
    if (in_one_launch()) {
      outcome = submit(PoolOperationKind::kCommit, requests, count, false);
    } else {
      CommitRequest* staged = stage(requests, count);
      PoolResult* result = stage<PoolResult>(nullptr, 1);
      submit_commit(*this, view(), staged, count, result);
      finish();
      outcome = *result;
    }
    uint32_t collided = 0;
    device_.download(&collided, &there_.plan->collided, sizeof collided);
    collisions_ += collided;
    return outcome;
  }

  PoolResult release(const int32_t* leases, uint32_t count) {
    if (in_one_launch()) {
      std::vector<int32_t> entries(leases, leases + count);
      return submit(PoolOperationKind::kRelease, entries.data(), count, false);
    }
    const int32_t* staged = stage(leases, count);
    PoolResult* result = stage<PoolResult>(nullptr, 1);
    submit_release(*this, view(), staged, count, result);
    finish();
    return *result;
  }

  void clear() {
    submit_clear(*this, view());
    finish();
  }

  // Launches with random geometry.
  template <typename Kernel, typename... Arguments>
  void wide(Kernel kernel, Arguments... arguments_of_kernel) {
    const uint32_t grid = 1 + random_.below(Device::kMostBlocks);
    launch(kernel, grid, threads(), arguments_of_kernel...);
  }

  template <typename Kernel, typename... Arguments>
  void one_block(Kernel kernel, Arguments... arguments_of_kernel) {
    device_.launch(kernel, 1, threads(), arguments_of_kernel...);
    check_ring();
  }

  // Matched leading blocks of each prompt in `pools` pools, all of which are this one. Uses a warp
  // for each search, or fewer.
  std::vector<uint32_t> probe(uint32_t pools, const uint64_t* hashes, const uint32_t* offsets,
                              uint32_t prompts, bool warp_each) {
    const ProbeArguments probe = arguments(pools, hashes, offsets, prompts);
    const uint32_t searches = pools * prompts;
    if (warp_each) {
      device_.launch(kvasir_probe, searches, 32, probe.pools, pools, hashes, probe.offsets, prompts,
                     probe.matched);
    } else {
      wide(kvasir_probe, probe.pools, pools, hashes, probe.offsets, prompts, probe.matched);
    }
    const std::vector<uint32_t> matched = finish(probe.matched, searches);
    return matched;
  }

  const OccupancyPage& page() const { return *page_; }
  uint64_t next_event() const { return ring_->next_event; }
  uint32_t read_events(uint64_t* from, BlockEvent* events, uint32_t count) const {
    CHECK(ring_->reserved_end == ring_->next_event);
    return kvasir::read_events(ring_, shape_.event_capacity, from, events, count);
  }
  const EventRingHead* ring() const { return ring_; }
  uint64_t collisions() const { return collisions_; }

  // The current state of the pool, in host memory; valid until the next operation.
  const DevicePool& snapshot() {
    if (!fresh_) {
      device_.download(mirror_.get(), memory_, device_pool_bytes(shape_));
      fresh_ = true;
    }
    return here_;
  }

  // From now on probes run concurrently with the pool's launches and must find these hashes, which
  // stay held. The hashes are in memory that both sides read.
  void watch(const uint64_t* hashes, uint32_t blocks) {
    watched_ = hashes;
    watched_blocks_ = blocks;
  }

 private:
  static constexpr size_t kStagingBytes = 1u << 20;

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static size_t rounded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

  const DevicePool* view() const { return static_cast<const DevicePool*>(memory_); }

  bool in_one_launch() { return random_.below(2) == 0; }

  // Carries out one batch in one launch, which also copies it to the device and its answers back.
  template <typename Entry>
  PoolResult submit(PoolOperationKind kind, Entry* entries, uint32_t count, bool answered) {
    Entry* staged = stage(entries, count);
    const uint32_t units = static_cast<uint32_t>(staged_bytes_ / sizeof(StagedWords));
    PoolResult* result = stage<PoolResult>(nullptr, 1);
    PoolOperations operations{};
    operations.operations[0] = {staging_there_ + (reinterpret_cast<const char*>(staged) - staging_),
                                answered ? staged : nullptr, result, kind, count};
    launch(kvasir_pool_submission, 1, std::min(threads(), 512u), view(),
           reinterpret_cast<StagedWords*>(staging_there_),
           reinterpret_cast<const StagedWords*>(staging_), units, 1u, operations);
    finish();
    std::copy(staged, staged + count, entries);
    return *result;
  }

  // Mostly few, because large blocks of threads take long where a CPU runs them.
  uint32_t threads() {
    const bool wide = random_.below(16) == 0;
    return 32 * (1 + random_.below(wide ? Device::kWideWarps : Device::kMostWarps));
  }

  // Launches together with a probe if there is something to watch.
  template <typename Kernel, typename... Arguments>
  void launch(Kernel kernel, uint32_t grid, uint32_t threads, Arguments... arguments_of_kernel) {
    if (watched_blocks_ == 0) {
      device_.launch(kernel, grid, threads, arguments_of_kernel...);
      check_ring();
      return;
    }
    // A single search is done by a warp, many by four lanes each.
    const uint32_t offsets[] = {0, watched_blocks_};
    const uint32_t searches = random_.below(2) == 0 ? 1 : 2 * Device::kMostWarps;
    const ProbeArguments probe = arguments(searches, watched_, offsets, 1);
    device_.launch_beside(probe, kernel, grid, threads, arguments_of_kernel...);
    watching_.push_back(probe);
    check_ring();
  }

  // Memory that both sides read, until the operation has finished.
  template <typename T>
  T* stage(const T* values, uint32_t count) {
    T* staged = reinterpret_cast<T*>(staging_ + staged_bytes_);
    staged_bytes_ += rounded(uint64_t{count} * sizeof(T));
    CHECK(staged_bytes_ <= kStagingBytes);
    if (values != nullptr) {
      std::copy(values, values + count, staged);
    }
    return staged;
  }

  ProbeArguments arguments(uint32_t pools, const uint64_t* hashes, const uint32_t* offsets,
                           uint32_t prompts) {
    const std::vector<const DevicePool*> views(pools, view());
    const std::vector<uint32_t> unanswered(size_t{pools} * prompts, kNoBlock);
    return {stage(views.data(), pools),  pools,   hashes,
            stage(offsets, prompts + 1), prompts, stage(unanswered.data(), pools * prompts)};
  }

  // During an operation, including between its launches, a reader gets no event of the operation
  // and none that it has overwritten.
  void check_ring() const {
    std::vector<BlockEvent> events(4);
    const uint64_t next = next_event();
    uint64_t from = next > shape_.event_capacity ? next - shape_.event_capacity : 0;
    while (from < next && published_) {
      const uint32_t count =
          kvasir::read_events(ring_, shape_.event_capacity, &from, events.data(), 4);
      for (uint32_t i = 0; i < count; i++) {
        CHECK(events[i].sequence == from - count + i);
      }
      from += count == 0 ? 1 : 0;
    }
  }

  void finish() {
    device_.synchronise();
    for (const ProbeArguments& probe : watching_) {
      for (uint32_t i = 0; i < probe.pool_count; i++) {
        CHECK(probe.matched[i] == watched_blocks_);
      }
    }
    watching_.clear();
    staged_bytes_ = 0;
    fresh_ = false;
  }

  template <typename Request>
  PoolResult finish(const Request* staged, Request* requests, uint32_t count,
                    const PoolResult* result) {
    finish();
    std::copy(staged, staged + count, requests);
    return *result;
  }

  std::vector<uint32_t> finish(const uint32_t* staged, uint32_t count) {
    finish();
    return {staged, staged + count};
  }

  Device& device_;
  const PoolShape shape_;
  TestRandom random_;
  void* memory_;
  OccupancyPage* page_;
  EventRingHead* ring_;
  char* staging_;
  char* staging_there_;
  std::unique_ptr<char, Free> mirror_;
  DevicePool there_{};
  DevicePool here_{};
  bool published_ = false;  // the ring, for the first time
  bool fresh_ = false;
  size_t staged_bytes_ = 0;
  uint64_t collisions_ = 0;
  const uint64_t* watched_ = nullptr;
  uint32_t watched_blocks_ = 0;
  std::vector<ProbeArguments> watching_;
};

}  // namespace kvasir
