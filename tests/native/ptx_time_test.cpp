// Prints how long the launches of a submission would take on a device, by ptx_time.hpp, under the
// names of tests/gpu's benchmarks. `tests/gpu/bundle` keeps the lines, and a run on a device prints
// them beside what it measures. KVASIR_LONG=1 adds the largest batches.

#include "ptx_device.hpp"

namespace kvasir {
namespace {

constexpr PoolShape kShape{24576, 16, 256, 1024, 1u << 15};
constexpr uint32_t kBlocks = 256;     // of a lease
constexpr uint32_t kMostLeases = 64;  // of a batch
constexpr uint32_t kThreads = 512;

// What a launch and the wait for it take besides its kernel, in microseconds: the least submission
// that was measured on an H200 (docs/gpu.md) without its kernel's time here.
constexpr double kLaunchAndWait = 9.0;

// A pool all of whose batches until finish() are one launch, as BenchmarkPool in tests/gpu/native.
class TimedPool {
 public:
  explicit TimedPool(PtxDevice& device)
      : device_(device),
        memory_(device.device_memory(device_pool_bytes(kShape))),
        page_(static_cast<OccupancyPage*>(device.host_memory(sizeof(OccupancyPage)))),
        ring_(static_cast<EventRingHead*>(device.host_memory(event_ring_bytes(kShape)))),
        staging_(static_cast<char*>(device.host_memory(kStagingBytes))),
        staging_there_(static_cast<char*>(device.device_memory(kStagingBytes))),
        results_(static_cast<PoolResult*>(device.host_memory(4 * sizeof(PoolResult)))) {
    device.launch(kvasir_pool_initialise, 4, 256, static_cast<DevicePool*>(memory_), kShape, page_,
                  ring_);
  }
  TimedPool(const TimedPool&) = delete;
  TimedPool& operator=(const TimedPool&) = delete;
  ~TimedPool() {
    for (void* memory : {memory_, static_cast<void*>(page_), static_cast<void*>(ring_),
                         static_cast<void*>(staging_), static_cast<void*>(staging_there_),
                         static_cast<void*>(results_)}) {
      device_.free_device(memory);
    }
  }

  void lease(const std::vector<LeaseRequest>& requests) {
    add(PoolOperationKind::kLease, requests);
  }
  void extend(const std::vector<ExtendRequest>& requests) {
    add(PoolOperationKind::kExtend, requests);
  }
  void commit(const std::vector<CommitRequest>& requests) {
    add(PoolOperationKind::kCommit, requests);
  }
  void release(const std::vector<int32_t>& leases) { add(PoolOperationKind::kRelease, leases); }

  // Returns the microseconds of the launch.
  double finish() {
    ptx::LaunchTime time;
    device_.count_time(&time);
    device_.launch(kvasir_pool_submission, 1, kThreads, view(),
                   reinterpret_cast<StagedWords*>(staging_there_),
                   reinterpret_cast<const StagedWords*>(staging_),
                   static_cast<uint32_t>(staged_ / sizeof(StagedWords)), added_, operations_);
    device_.count_time(nullptr);
    for (uint32_t i = 0; i < added_; i++) {
      CHECK(operations_.operations[i].result->error == PoolError::kNone);
    }
    added_ = 0;
    staged_ = 0;
    return time.microseconds();
  }

  // A result of the last batch of leases.
  const LeaseRequest& answer(size_t i) const { return answers_[i]; }
  uint64_t evicted() const { return read_occupancy(*page_).evicted_blocks; }

 private:
  static constexpr size_t kStagingBytes = 4 * kMostLeases * sizeof(LeaseRequest);

  const DevicePool* view() const { return static_cast<const DevicePool*>(memory_); }

  template <typename T>
  void add(PoolOperationKind kind, const std::vector<T>& values) {
    char* const staged = staging_ + staged_;
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(staged));
    operations_.operations[added_] = {staging_there_ + staged_, staged, results_ + added_, kind,
                                      static_cast<uint32_t>(values.size())};
    added_++;
    staged_ += (values.size() * sizeof(T) + sizeof(StagedWords) - 1) / sizeof(StagedWords) *
               sizeof(StagedWords);
    CHECK(staged_ <= kStagingBytes);
    if (kind == PoolOperationKind::kLease) {
      answers_ = reinterpret_cast<const LeaseRequest*>(staged);
    }
  }

  PtxDevice& device_;
  void* memory_;
  OccupancyPage* page_;
  EventRingHead* ring_;
  char* staging_;
  char* staging_there_;
  PoolResult* results_;
  const LeaseRequest* answers_ = nullptr;
  PoolOperations operations_{};
  uint32_t added_ = 0;
  size_t staged_ = 0;
};

class Cases {
 public:
  explicit Cases(PtxDevice& device)
      : device_(device),
        pool_(device),
        tokens_(device_array<uint32_t>(kBlocks * kShape.tokens_per_block)),
        names_(device_array<uint64_t>(size_t{kPrompts} * kBlocks)) {
    const std::vector<uint32_t> tokens(kBlocks * kShape.tokens_per_block);
    device.upload(tokens_, tokens.data(), tokens.size() * sizeof(uint32_t));
  }
  Cases(const Cases&) = delete;
  Cases& operator=(const Cases&) = delete;
  ~Cases() {
    device_.free_device(names_);
    device_.free_device(tokens_);
  }

  void least_submission() {
    auto* abi = static_cast<uint32_t*>(device_.host_memory(sizeof(uint32_t)));
    ptx::LaunchTime time;
    device_.count_time(&time);
    device_.launch(kvasir_module_abi, 1, 32, abi);
    device_.count_time(nullptr);
    device_.free_host(abi);
    print("least_submission", time.microseconds());
  }

  // Leases, commits and releases of new prompts in a full pool.
  void batches(uint32_t batch) {
    double leased = 0;
    double committed = 0;
    double released = 0;
    for (uint64_t evicted = pool_.evicted(); pool_.evicted() < evicted + kBlocks * batch;) {
      const std::vector<LeaseRequest> requests = new_prompts(batch);
      pool_.lease(requests);
      leased = pool_.finish();
      std::vector<CommitRequest> commits;
      std::vector<int32_t> leases;
      for (uint32_t i = 0; i < batch; i++) {
        commits.push_back(whole(pool_.answer(i)));
        leases.push_back(pool_.answer(i).lease);
      }
      pool_.commit(commits);
      committed = pool_.finish();
      pool_.release(leases);
      released = pool_.finish();
    }
    const std::string suffix =
        "_" + std::to_string(batch) + "x" + std::to_string(kBlocks) + "_one_launch";
    print("lease" + suffix, leased);
    print("commit" + suffix, committed);
    print("release" + suffix, released);
  }

  // 64 requests run. In each iteration the oldest `fresh` finish, new ones are leased, those leased
  // before are committed, and `growing` others grow by a block.
  void iterations(const std::string& name, uint32_t fresh, uint32_t growing, uint32_t rounds) {
    std::vector<int32_t> running;
    std::vector<CommitRequest> computed;
    double last = 0;
    for (uint32_t round = 0; round < kMostLeases / fresh + rounds; round++) {
      if (!computed.empty()) {
        pool_.commit(computed);
      }
      if (running.size() == kMostLeases) {
        pool_.release({running.begin(), running.begin() + fresh});
        running.erase(running.begin(), running.begin() + fresh);
      }
      pool_.lease(new_prompts(fresh));
      std::vector<ExtendRequest> grown;
      for (size_t i = 0; i < running.size() && i < growing; i++) {
        grown.push_back({running[i], 1, 0});
      }
      if (!grown.empty()) {
        pool_.extend(grown);
      }
      last = pool_.finish();
      computed.clear();
      for (uint32_t i = 0; i < fresh; i++) {
        running.push_back(pool_.answer(i).lease);
        computed.push_back(whole(pool_.answer(i)));
      }
    }
    print(name, last);
    pool_.release(running);
    pool_.finish();
  }

 private:
  static constexpr uint32_t kPrompts = 64;

  template <typename T>
  T* device_array(size_t count) {
    return static_cast<T*>(device_.device_memory(count * sizeof(T)));
  }

  // The pool keeps no pointers to the names of prompts that have ended.
  std::vector<LeaseRequest> new_prompts(uint32_t count) {
    std::vector<LeaseRequest> requests(count);
    for (LeaseRequest& request : requests) {
      std::vector<uint64_t> names(kBlocks);
      for (uint64_t& each : names) {
        each = random_.next();
      }
      uint64_t* const there = names_ + size_t{next_++ % kPrompts} * kBlocks;
      device_.upload(there, names.data(), names.size() * sizeof(uint64_t));
      request.tokens = tokens_;
      request.hashes = there;
      request.matchable_blocks = request.blocks = kBlocks;
    }
    return requests;
  }

  static CommitRequest whole(const LeaseRequest& answer) {
    CHECK(answer.lease != kRefused && answer.matched_blocks == 0);
    return {answer.tokens, answer.hashes, answer.lease, 0, answer.matchable_blocks, 0};
  }

  static void print(const std::string& name, double kernel) {
    std::printf("model %s %.1f us, the kernel %.1f\n", name.c_str(), kernel + kLaunchAndWait,
                kernel);
    std::fflush(stdout);
  }

  PtxDevice& device_;
  TimedPool pool_;
  uint32_t* tokens_;
  uint64_t* names_;
  TestRandom random_{1};
  uint32_t next_ = 0;
};

int run(const std::string& path) {
  ptx::Module module(ptx::read_text(path));
  PtxDevice device(module, false);
  Cases cases(device);
  cases.least_submission();
  cases.batches(1);
  cases.batches(8);
  if (long_form()) {
    cases.batches(64);
  }
  cases.iterations("iteration_64_running_1_new_device", 1, 4, 2);
  cases.iterations("iteration_64_running_8_new_one_launch", 8, 56, 3);
  return 0;
}

}  // namespace
}  // namespace kvasir

int main() { return kvasir::run_ptx_test("ptx_time_test", kvasir::run); }
