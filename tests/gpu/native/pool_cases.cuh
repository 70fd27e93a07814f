// Cases that change a pool: batches of leases, whole iterations, and the page that the host reads.
// The kernels must be included before this header.
#pragma once

#include "benchmark_device.cuh"
#include "benchmark_prompts.cuh"

namespace kvasir {

class PoolCases {
 public:
  PoolCases(BenchmarkDevice& device, Report& report)
      : device_(device), stream_(device.stream()), report_(report) {}

  // ---- (d) batches ------------------------------------------------------------------------------

  // In a full pool, so that each lease must evict.
  template <typename Pool>
  void measure_batches(Pool& pool, uint32_t batch, bool on_device, const std::string& side) {
    const BatchSeconds seconds = run_batches(pool, batch, on_device);
    const std::string suffix =
        "_" + std::to_string(batch) + "x" + std::to_string(kRequestBlocks) + "_" + side;
    figure("lease" + suffix, median(seconds.leased) * 1e6, "us");
    figure("commit" + suffix, median(seconds.committed) * 1e6, "us");
    figure("release" + suffix, median(seconds.released) * 1e6, "us");
  }

  // ---- (h) from which capacity on an eviction needs many thread blocks -------------------------

  void measure_capacity(uint32_t capacity) {
    PoolShape shape = kShape;
    shape.capacity_blocks = capacity;
    BenchmarkPool pool(shape, device_.processors(), 64, Stream::Priority::kLowest);
    while (read_occupancy(pool.page()).evicted_blocks == 0) {
      run_batches(pool, 1, true);
    }
    for (const bool one : {false, true}) {
      pool.set_launches(one ? BenchmarkPool::Launches::kOne : BenchmarkPool::Launches::kOfPhases);
      measure_batches(pool, 1, true,
                      std::string(one ? "one_launch" : "device") + "_of_" +
                          std::to_string(capacity) + "_blocks");
    }
  }

  // ---- (g) iterations ---------------------------------------------------------------------------

  // 64 requests run. In each iteration the 8 oldest finish, 8 new ones are leased, those leased in
  // the previous iteration are committed, and the others grow by a block. One submission, one wait.
  template <typename Pool>
  void measure_iterations(Pool& pool, bool on_device, const char* side) {
    constexpr uint32_t kRounds = 100;
    constexpr uint32_t kNew = 8;
    constexpr uint32_t kRunning = 64;
    const Prompts prompts(fresh_names(size_t{kRounds} * kNew * kRequestBlocks, ++batches_run_),
                          kRequestBlocks, on_device);
    std::vector<int32_t> running;
    std::vector<CommitRequest> computed;
    std::vector<double> seconds;
    for (uint32_t round = 0; round < kRounds; round++) {
      std::vector<int32_t> finished;
      if (running.size() == kRunning) {
        finished.assign(running.begin(), running.begin() + kNew);
        running.erase(running.begin(), running.begin() + kNew);
      }
      std::vector<ExtendRequest> grown;
      for (const int32_t lease : running) {
        grown.push_back({lease, 1, 0});
      }
      std::vector<LeaseRequest> requests;
      for (uint32_t i = 0; i < kNew; i++) {
        requests.push_back(request_of(prompts.tokens(),
                                      prompts.names() + (size_t{round} * kNew + i) * kRequestBlocks,
                                      kRequestBlocks));
      }
      const double taken = timed(pool, [&] {
        if (!computed.empty()) {
          pool.commit(computed);
        }
        if (!finished.empty()) {
          pool.release(finished);
        }
        pool.lease(requests);
        if (!grown.empty()) {
          pool.extend(grown);
        }
      });
      if (!finished.empty()) {
        seconds.push_back(taken);
      }
      computed.clear();
      for (uint32_t i = 0; i < kNew; i++) {
        CHECK(pool.answer(i).lease != kRefused);
        running.push_back(pool.answer(i).lease);
        computed.push_back(commit_of(pool.answer(i)));
      }
    }
    figure(std::string("iteration_64_running_8_new_") + side, median(seconds) * 1e6, "us");
    pool.release(running);
    pool.finish();
  }

  // ---- (e) the page -----------------------------------------------------------------------------

  // Time from the submission of a mutation until the host sees it in the page, and from then until
  // the host's synchronisation returns.
  void measure_page(const std::string& name, Stream::Priority priority) {
    BenchmarkPool pool({4096, kTokens, 16, 64, 1024}, device_.processors(), 1, priority);
    const std::string prefix = "page_" + name + "_";
    measure_staleness(pool, prefix + "idle", 200, [] {});
    measure_staleness(pool, prefix + "beside_waves", 5, [&] { device_.launch_waves(); });
    measure_staleness(pool, prefix + "beside_10_ms_spin", 5, [&] { device_.launch_occupy(10e-3); });
    device_.launch_waves();
    const double begin = host_seconds();
    constexpr int kReads = 10000;
    uint64_t sum = 0;
    for (int i = 0; i < kReads; i++) {
      sum += read_occupancy(pool.page()).tick;
    }
    const double taken = host_seconds() - begin;
    CHECK(sum < ~uint64_t{0});
    figure(prefix + "read_beside_waves", taken / kReads * 1e9, "ns");
    stream_.synchronise();
  }

 private:
  template <typename Pool, typename Operation>
  static double timed(Pool& pool, Operation operation) {
    const double begin = host_seconds();
    operation();
    pool.finish();
    return host_seconds() - begin;
  }

  struct BatchSeconds {
    std::vector<double> leased, committed, released;
  };

  // Leases, commits and releases new prompts.
  template <typename Pool>
  BatchSeconds run_batches(Pool& pool, uint32_t batch, bool on_device) {
    constexpr uint32_t kRounds = 40;
    const Prompts prompts(fresh_names(size_t{kRounds} * batch * kRequestBlocks, ++batches_run_),
                          kRequestBlocks, on_device);
    BatchSeconds seconds;
    for (uint32_t round = 0; round < kRounds; round++) {
      std::vector<LeaseRequest> requests;
      for (uint32_t i = 0; i < batch; i++) {
        requests.push_back(request_of(
            prompts.tokens(), prompts.names() + (size_t{round} * batch + i) * kRequestBlocks,
            kRequestBlocks));
      }
      seconds.leased.push_back(timed(pool, [&] { pool.lease(requests); }));
      std::vector<CommitRequest> commits;
      std::vector<int32_t> leases;
      for (uint32_t i = 0; i < batch; i++) {
        CHECK(pool.answer(i).lease != kRefused);
        commits.push_back(commit_of(pool.answer(i)));
        leases.push_back(pool.answer(i).lease);
      }
      seconds.committed.push_back(timed(pool, [&] { pool.commit(commits); }));
      seconds.released.push_back(timed(pool, [&] { pool.release(leases); }));
    }
    return seconds;
  }

  void measure_staleness(BenchmarkPool& pool, const std::string& name, int rounds,
                         const std::function<void()>& saturate) {
    std::vector<double> seen;
    std::vector<double> known;
    for (int i = 0; i < rounds; i++) {
      saturate();
      const uint64_t tick = read_occupancy(pool.page()).tick;
      const double begin = host_seconds();
      pool.lease({request_of(nullptr, nullptr, 0)});
      while (read_occupancy(pool.page()).tick == tick) {
        CHECK(host_seconds() < begin + 10);
      }
      const double visible = host_seconds();
      pool.finish();
      seen.push_back(visible - begin);
      known.push_back(host_seconds() - visible);
      CHECK(pool.answer(0).lease != kRefused);
      pool.release({pool.answer(0).lease});
      pool.finish();
      stream_.synchronise();
    }
    figure(name + "_submitted_to_visible", median(seen) * 1e6, "us");
    figure(name + "_visible_to_known_finished", median(known) * 1e6, "us");
  }

  void figure(const std::string& name, double value, const char* unit) {
    report_.figure(name, value, unit);
  }

  BenchmarkDevice& device_;
  Stream& stream_;
  Report& report_;
  uint64_t batches_run_ = 0;
};

}  // namespace kvasir
