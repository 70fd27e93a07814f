// Measures the kernels on a GPU against the limits of the GPU and against the CPU pool.
//
//   kernel_benchmark [MARKDOWN_FILE]
//
// One line per figure: name, value, unit. Times are medians. "Cold" means that the L2 cache was
// flushed before.

#include "../../../native/src/cuda/kernels.cu"
#include "benchmark_pool.cuh"

namespace kvasir {
namespace {

constexpr uint32_t kPools = 8;
constexpr uint32_t kCapacity = 1u << 20;
constexpr uint32_t kTokens = 16;
constexpr uint32_t kResidents = 1024;  // prompts that fill a pool
constexpr uint32_t kResidentBlocks = 1000;
constexpr uint32_t kSharedBlocks = 16;  // of a system prompt, in every second resident
constexpr uint32_t kRequestBlocks = 256;
constexpr PoolShape kShape{kCapacity, kTokens, 256, 1024, 1u << 16};

uint64_t mix(uint64_t a, uint64_t b, uint64_t c) {
  return TestRandom(TestRandom(TestRandom(a).next() ^ b).next() ^ c).next();
}

// The sequence hash of a block of a pool's resident prompt.
uint64_t resident_name(uint32_t pool, uint32_t resident, uint32_t depth) {
  const bool shared = resident % 2 == 0 && depth < kSharedBlocks;
  return shared ? mix(kPools, resident % 32, depth) : mix(pool, resident, depth);
}

// ---- what the device can do ---------------------------------------------------------------------

__global__ void read_all(const uint4* words, uint64_t count, uint32_t* sink) {
  uint32_t sum = 0;
  const uint64_t step = threads_in_grid();
  uint64_t i = thread_in_grid();
  for (; i + 3 * step < count; i += 4 * step) {
    const uint4 a = words[i];
    const uint4 b = words[i + step];
    const uint4 c = words[i + 2 * step];
    const uint4 d = words[i + 3 * step];
    sum += a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
    sum += c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  if (sum == 1) {  // keeps the loads alive; the memory is zero
    *sink = sum;
  }
}

// Four lanes together read a random 64-byte line, kAtOnce lines before they use the first.
template <uint32_t kAtOnce>
__global__ void read_lines(const uint4* lines, uint64_t count, uint32_t rounds, uint32_t* sink) {
  uint32_t sum = 0;
  uint64_t state = (thread_in_grid() / 4 + 1) * 0x9e3779b97f4a7c15ull;
  for (uint32_t round = 0; round < rounds; round++) {
    uint4 loaded[kAtOnce];
    for (uint32_t k = 0; k < kAtOnce; k++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const uint64_t line = multiply_high(state ^ state >> 29, count);
      loaded[k] = lines[line * 4 + threadIdx.x % 4];
    }
    for (uint32_t k = 0; k < kAtOnce; k++) {
      sum += loaded[k].x ^ loaded[k].y ^ loaded[k].z ^ loaded[k].w;
    }
  }
  if (sum == 1) {
    *sink = sum;
  }
}

// Occupies its SM for a number of clock cycles; the first thread block reports that it has started.
__global__ void occupy(long long cycles, volatile uint32_t* begun) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *begun = 1;
    __threadfence_system();
  }
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// A kernel with much work: each thread block streams its share of memory and computes with it.
__global__ void work(const uint4* words, uint64_t count, uint32_t rounds, uint32_t* sink,
                     volatile uint32_t* begun) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *begun = 1;
    __threadfence_system();
  }
  uint32_t sum = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    const uint64_t at = (uint64_t{blockIdx.x} * rounds + round) * blockDim.x + threadIdx.x;
    const uint4 loaded = words[at % count];
    for (uint32_t i = 0; i < 16; i++) {
      sum = sum * 1664525u + (loaded.x ^ loaded.y ^ loaded.z ^ loaded.w);
    }
  }
  if (sum == 1) {
    *sink = sum;
  }
}

struct Limits {
  double read_bytes_per_second;
  double lines_per_second;
};

class Benchmark {
 public:
  explicit Benchmark(const cudaDeviceProp& device)
      : processors_(static_cast<uint32_t>(device.multiProcessorCount)),
        threads_per_processor_(static_cast<uint32_t>(device.maxThreadsPerMultiProcessor)),
        stream_(Stream::Priority::kLowest),
        high_(Stream::Priority::kHighest),
        flushed_(size_t{256} << 20),
        begun_(1),
        sink_(1) {
    int kilohertz = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    cycles_per_second_ = 1e3 * kilohertz;
  }

  Report& report() { return report_; }

  void run() {
    measure_limits();
    measure_hashes();
    std::vector<std::unique_ptr<BenchmarkPool>> pools;
    for (uint32_t pool = 0; pool < kPools; pool++) {
      pools.emplace_back(new BenchmarkPool(kShape, processors_, 64, Stream::Priority::kLowest));
      fill(*pools.back(), pool, true);
    }
    std::vector<const DevicePool*> views;
    for (const auto& pool : pools) {
      views.push_back(pool->view());
    }
    const DeviceArray<const DevicePool*> directories(views);
    measure_probes(directories.data(), "64x8x250", 64, 250, 32);
    measure_probes(directories.data(), "4096x8x1000", 4096, 1000, 1);
    measure_probe_latency(directories.data());
    CpuBenchmarkPool cpu(kShape);
    // Different prompts from before, so that the pools are full.
    fill(*pools[0], 100, true);
    fill(cpu, 0, false);
    fill(cpu, 100, false);
    using Launches = BenchmarkPool::Launches;
    for (const uint32_t batch : {1u, 8u, 64u}) {
      measure_batches(*pools[0], batch, true, "device");
      pools[0]->set_launches(Launches::kOne);
      measure_batches(*pools[0], batch, true, "one_launch");
      pools[0]->set_launches(Launches::kOfPhases);
      measure_batches(cpu, batch, false, "cpu");
    }
    measure_iterations(*pools[0], true, "device");
    pools[0]->set_launches(Launches::kOne);
    measure_iterations(*pools[0], true, "one_launch");
    measure_iterations(cpu, false, "cpu");
    pools.clear();
    for (const uint32_t capacity : {1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20}) {
      measure_capacity(capacity);
    }
    measure_page("low_priority", Stream::Priority::kLowest);
    measure_page("high_priority", Stream::Priority::kHighest);
  }

 private:
  void figure(const std::string& name, double value, const char* unit) {
    report_.figure(name, value, unit);
  }

  // Evicts a benchmark's data from the L2 cache.
  void flush(const Stream& stream) {
    CUDA_CHECK(cudaMemsetAsync(flushed_.data(), 0, flushed_.bytes(), stream.get()));
  }

  // ---- (a) limits -------------------------------------------------------------------------------

  void measure_limits() {
    const size_t bytes = size_t{2} << 30;
    const DeviceArray<unsigned char> memory(bytes);
    CUDA_CHECK(cudaMemset(memory.data(), 0, bytes));
    const auto* words = reinterpret_cast<const uint4*>(memory.data());
    const uint32_t blocks = processors_ * threads_per_processor_ / 256;
    std::vector<double> seconds;
    for (int i = 0; i < 20; i++) {
      seconds.push_back(stream_.seconds([&] {
        read_all<<<blocks, 256, 0, stream_.get()>>>(words, bytes / 16, sink_.data());
        CUDA_CHECK(cudaGetLastError());
      }));
    }
    limits_.read_bytes_per_second = bytes / median(seconds);
    figure("limit_read", limits_.read_bytes_per_second / 1e9, "GB/s");
    const uint64_t lines = kPools * directory_buckets(kCapacity);
    CHECK(lines * 64 <= bytes);
    const double best = std::max({random_rate<1>(words, lines), random_rate<2>(words, lines),
                                  random_rate<4>(words, lines), random_rate<8>(words, lines)});
    limits_.lines_per_second = best;
    figure("limit_random_64_bytes", best / 1e9, "G accesses/s");
  }

  template <uint32_t kAtOnce>
  double random_rate(const uint4* words, uint64_t lines) {
    const uint32_t blocks = processors_ * threads_per_processor_ / 256;
    const uint32_t rounds = 512 / kAtOnce;
    std::vector<double> seconds;
    for (int i = 0; i < 5; i++) {
      seconds.push_back(stream_.seconds([&] {
        read_lines<kAtOnce><<<blocks, 256, 0, stream_.get()>>>(words, lines, rounds, sink_.data());
        CUDA_CHECK(cudaGetLastError());
      }));
    }
    const double accesses = double(blocks) * (256 / 4) * rounds * kAtOnce;
    return accesses / median(seconds);
  }

  // ---- (c) hashes -------------------------------------------------------------------------------

  void measure_hashes() {
    constexpr int kPrompts = 4096;
    constexpr int kLength = 16384;
    const DeviceArray<uint32_t> tokens(size_t{kPrompts} * kLength);
    CUDA_CHECK(cudaMemset(tokens.data(), 0x5a, tokens.bytes()));
    std::vector<int32_t> token_offsets;
    for (int prompt = 0; prompt <= kPrompts; prompt++) {
      token_offsets.push_back(prompt * kLength);
    }
    const DeviceArray<int32_t> placed_tokens(token_offsets);
    const DeviceArray<HashScope> scopes(std::vector<HashScope>(kPrompts, HashScope{0, 0, 0}));
    for (const int tokens_per_block : {16, 32, 64}) {
      const int blocks = kLength / tokens_per_block;
      std::vector<int32_t> block_offsets;
      for (int prompt = 0; prompt < kPrompts; prompt++) {
        block_offsets.push_back(prompt * blocks);
      }
      const DeviceArray<int32_t> placed_blocks(block_offsets);
      const DeviceArray<uint64_t> local(size_t{kPrompts} * blocks);
      const DeviceArray<uint64_t> sequence(size_t{kPrompts} * blocks);
      const HashBatch batch{tokens.data(), placed_tokens.data(), placed_blocks.data(),
                            scopes.data(), local.data(),         sequence.data()};
      measure_hash("kvasir", HashFormat::kKvasir, tokens_per_block, batch, kPrompts,
                   static_cast<double>(tokens.bytes()));
      measure_hash("dynamo", HashFormat::kDynamo, tokens_per_block, batch, kPrompts,
                   static_cast<double>(tokens.bytes()));
    }
  }

  void measure_hash(const char* name, HashFormat format, int tokens_per_block,
                    const HashBatch& batch, int prompts, double bytes) {
    std::vector<double> local;
    std::vector<double> chain;
    for (int i = 0; i < 20; i++) {
      local.push_back(stream_.seconds([&] {
        kvasir_hash_local<<<6 * processors_, 128, 0, stream_.get()>>>(format, tokens_per_block,
                                                                      batch, prompts);
        CUDA_CHECK(cudaGetLastError());
      }));
      chain.push_back(stream_.seconds([&] {
        kvasir_hash_chain<<<prompts / 16, 128, 0, stream_.get()>>>(format, tokens_per_block, batch,
                                                                   prompts);
        CUDA_CHECK(cudaGetLastError());
      }));
    }
    const std::string prefix =
        std::string("hash_") + name + "_" + std::to_string(tokens_per_block) + "_tokens_";
    const double both = median(local) + median(chain);
    figure(prefix + "local", bytes / median(local) / 1e9, "GB/s");
    figure(prefix + "local_share", 100 * bytes / median(local) / limits_.read_bytes_per_second,
           "% of limit_read");
    figure(prefix + "chain", median(chain) * 1e6, "us");
    figure(prefix + "both", bytes / both / 1e9, "GB/s");
    figure(prefix + "both_share", 100 * bytes / both / limits_.read_bytes_per_second,
           "% of limit_read");
  }

  // ---- pools ------------------------------------------------------------------------------------

  // A request whose prompt has `blocks` named blocks; all tokens are zero.
  static LeaseRequest request_of(const uint32_t* tokens, const uint64_t* names, uint32_t blocks) {
    LeaseRequest request{};
    request.tokens = tokens;
    request.hashes = names;
    request.matchable_blocks = blocks;
    request.blocks = blocks;
    return request;
  }

  static CommitRequest commit_of(const LeaseRequest& answer) {
    const uint32_t from = answer.matched_blocks;
    return {answer.tokens + size_t{from} * kTokens,
            answer.hashes + from,
            answer.lease,
            from,
            answer.matchable_blocks,
            0};
  }

  // Hashes, and tokens that are all zero, in the memory of the pool that reads them.
  class Prompts {
   public:
    Prompts(std::vector<uint64_t> names, uint32_t most_blocks, bool on_device)
        : host_names_(std::move(names)), host_tokens_(size_t{most_blocks} * kTokens) {
      if (on_device) {
        names_.reset(new DeviceArray<uint64_t>(host_names_));
        tokens_.reset(new DeviceArray<uint32_t>(host_tokens_));
      }
    }
    const uint64_t* names() const { return names_ ? names_->data() : host_names_.data(); }
    const uint32_t* tokens() const { return tokens_ ? tokens_->data() : host_tokens_.data(); }

   private:
    const std::vector<uint64_t> host_names_;
    const std::vector<uint32_t> host_tokens_;
    std::unique_ptr<DeviceArray<uint64_t>> names_;
    std::unique_ptr<DeviceArray<uint32_t>> tokens_;
  };

  // Runs prompts of `blocks` hashes through a pool, `batch` at a time, so that it caches them.
  template <typename Pool>
  void fill(Pool& pool, uint32_t number, bool on_device) {
    constexpr uint32_t kBatch = 32;
    std::vector<uint64_t> names;
    for (uint32_t resident = 0; resident < kResidents; resident++) {
      for (uint32_t depth = 0; depth < kResidentBlocks; depth++) {
        names.push_back(resident_name(number, resident, depth));
      }
    }
    const Prompts prompts(std::move(names), kResidentBlocks, on_device);
    for (uint32_t first = 0; first < kResidents; first += kBatch) {
      std::vector<LeaseRequest> requests;
      for (uint32_t i = 0; i < kBatch; i++) {
        requests.push_back(request_of(prompts.tokens(),
                                      prompts.names() + size_t{first + i} * kResidentBlocks,
                                      kResidentBlocks));
      }
      pool.lease(requests);
      pool.finish();
      std::vector<CommitRequest> commits;
      std::vector<int32_t> leases;
      for (uint32_t i = 0; i < kBatch; i++) {
        CHECK(pool.answer(i).lease != kRefused);
        commits.push_back(commit_of(pool.answer(i)));
        leases.push_back(pool.answer(i).lease);
      }
      pool.commit(commits);
      pool.release(leases);
      pool.finish();
    }
  }

  // ---- (b) probes -------------------------------------------------------------------------------

  // Prompts of `blocks` blocks; one pool holds the first `held` and the others at most the shared
  // system prompt.
  struct Queries {
    std::vector<uint64_t> names;
    std::vector<uint32_t> offsets{0};
    std::vector<uint32_t> held;  // [pool][prompt] of each set of prompts
    uint64_t resolved = 0;       // sum of `held`, of all sets
    uint64_t look_ups = 0;       // needed by a bisection, of all sets
  };

  static Queries make_queries(uint32_t prompts, uint32_t blocks, uint32_t sets) {
    Queries queries;
    TestRandom random(prompts);
    queries.held.resize(size_t{sets} * kPools * prompts);
    for (uint32_t query = 0; query < sets * prompts; query++) {
      const uint32_t home = query % kPools;
      const uint32_t resident = random.below(kResidents);
      const uint32_t held = random.below(blocks + 1);
      for (uint32_t depth = 0; depth < blocks; depth++) {
        queries.names.push_back(depth < held ? resident_name(home, resident, depth)
                                             : random.next());
      }
      queries.offsets.push_back(static_cast<uint32_t>(queries.names.size()));
      const uint32_t shared = resident % 2 == 0 ? (held < kSharedBlocks ? held : kSharedBlocks) : 0;
      for (uint32_t pool = 0; pool < kPools; pool++) {
        const uint32_t here = pool == home ? held : shared;
        const size_t set = query / prompts;
        queries.held[(set * kPools + pool) * prompts + query % prompts] = here;
        queries.resolved += here;
        queries.look_ups += look_ups_of(blocks, here);
      }
    }
    return queries;
  }

  static uint32_t look_ups_of(uint32_t blocks, uint32_t held) {
    uint32_t look_ups = 1;  // the first block
    if (held == 0) {
      return look_ups;
    }
    uint32_t low = 1;
    for (uint32_t end = blocks; low < end; look_ups++) {
      const uint32_t middle = low + (end - low) / 2;
      if (middle < held) {
        low = middle + 1;
      } else {
        end = middle;
      }
    }
    return look_ups;
  }

  static void launch_probe(const Stream& stream, const DevicePool* const* pools,
                           const uint64_t* names, const uint32_t* offsets, uint32_t prompts,
                           uint32_t* matched) {
    const uint32_t searches = kPools * prompts;
    const uint32_t per_block = searches <= kMostWideSearches ? 4 : 32;
    kvasir_probe<<<(searches + per_block - 1) / per_block, 128, 0, stream.get()>>>(
        pools, kPools, names, offsets, prompts, matched);
    CUDA_CHECK(cudaGetLastError());
  }

  // Rotates through several sets of prompts, so that none is cached from an earlier look-up.
  void measure_probes(const DevicePool* const* pools, const std::string& name, uint32_t prompts,
                      uint32_t blocks, uint32_t sets) {
    const Queries queries = make_queries(prompts, blocks, sets);
    const DeviceArray<uint64_t> names(queries.names);
    const DeviceArray<uint32_t> offsets(queries.offsets);
    const DeviceArray<uint32_t> matched(queries.held.size());
    for (const bool cold : {true, false}) {
      std::vector<double> seconds;
      for (int round = 0; round < 10; round++) {
        for (uint32_t set = 0; set < sets; set++) {
          if (cold) {
            flush(stream_);
          }
          seconds.push_back(stream_.seconds([&] {
            launch_probe(stream_, pools, names.data(), offsets.data() + set * prompts, prompts,
                         matched.data() + size_t{set} * kPools * prompts);
          }));
        }
      }
      CHECK(matched.download() == queries.held);
      const std::string prefix = "probe_" + name + (cold ? "_cold_" : "_warm_");
      const double once = median(seconds) * sets;
      const double resolved = static_cast<double>(queries.resolved) / once;
      const double look_ups = static_cast<double>(queries.look_ups) / once;
      figure(prefix + "time", median(seconds) * 1e6, "us");
      figure(prefix + "resolved", resolved / 1e9, "G blocks/s");
      figure(prefix + "resolved_share", 100 * resolved / limits_.lines_per_second,
             "% of limit_random_64_bytes");
      figure(prefix + "look_ups", look_ups / 1e9, "G needed look-ups/s");
      figure(prefix + "look_ups_share", 100 * look_ups / limits_.lines_per_second,
             "% of limit_random_64_bytes");
    }
  }

  // ---- (f) probe latency ------------------------------------------------------------------------

  // Thread blocks that fill the device many times over.
  void launch_waves(const Stream& stream) {
    const uint32_t per_wave = processors_ * (threads_per_processor_ / 512);
    begun_[0] = 0;
    work<<<per_wave * 400, 512, 0, stream.get()>>>(reinterpret_cast<const uint4*>(flushed_.data()),
                                                   flushed_.bytes() / sizeof(uint4), 32,
                                                   sink_.data(), begun_.data());
    CUDA_CHECK(cudaGetLastError());
    wait_for_begin();
  }

  // Thread blocks that fill the device once, and stay.
  void launch_occupy(const Stream& stream, double seconds) {
    begun_[0] = 0;
    occupy<<<processors_*(threads_per_processor_ / 512), 512, 0, stream.get()>>>(
        static_cast<long long>(seconds * cycles_per_second_), begun_.data());
    CUDA_CHECK(cudaGetLastError());
    wait_for_begin();
  }

  void wait_for_begin() {
    volatile uint32_t* begun = begun_.data();
    const double deadline = host_seconds() + 10;
    while (*begun == 0) {
      CHECK(host_seconds() < deadline);
    }
  }

  void measure_probe_latency(const DevicePool* const* pools) {
    constexpr uint32_t kPrompts = 64;
    const Queries queries = make_queries(kPrompts, 250, 1);
    const DeviceArray<uint64_t> names(queries.names);
    const DeviceArray<uint32_t> offsets(queries.offsets);
    const PinnedArray<uint32_t> matched(queries.held.size());
    const auto probe = [&] {
      const double begin = host_seconds();
      launch_probe(high_, pools, names.data(), offsets.data(), kPrompts, matched.data());
      high_.synchronise();
      return host_seconds() - begin;
    };
    probe();
    std::vector<double> idle;
    for (int i = 0; i < 500; i++) {
      idle.push_back(probe());
    }
    figure("probe_latency_idle", median(idle) * 1e6, "us");
    std::vector<double> alone;
    for (int i = 0; i < 5; i++) {
      alone.push_back(stream_.seconds([&] { launch_waves(stream_); }));
    }
    std::vector<double> beside;
    std::vector<double> slowed;
    for (int i = 0; i < 5; i++) {
      slowed.push_back(stream_.seconds([&] {
        launch_waves(stream_);
        while (!stream_.done()) {
          beside.push_back(probe());
        }
      }));
    }
    std::sort(beside.begin(), beside.end());
    figure("probe_latency_beside_waves", median(beside) * 1e6, "us");
    figure("probe_latency_beside_waves_99th", beside[beside.size() * 99 / 100] * 1e6, "us");
    figure("probes_beside_waves", static_cast<double>(beside.size()), "probes");
    figure("waves_alone", median(alone) * 1e3, "ms");
    figure("waves_beside_probes", median(slowed) * 1e3, "ms");
    figure("waves_slowdown", 100 * (median(slowed) / median(alone) - 1), "%");
    CHECK(std::equal(queries.held.begin(), queries.held.end(), matched.data()));
  }

  // ---- (d) batches ------------------------------------------------------------------------------

  static std::vector<uint64_t> fresh_names(size_t count, uint64_t seed) {
    TestRandom random(seed);
    std::vector<uint64_t> names;
    for (size_t i = 0; i < count; i++) {
      names.push_back(random.next());
    }
    return names;
  }

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
    BenchmarkPool pool(shape, processors_, 64, Stream::Priority::kLowest);
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
    BenchmarkPool pool({4096, kTokens, 16, 64, 1024}, processors_, 1, priority);
    const std::string prefix = "page_" + name + "_";
    measure_staleness(pool, prefix + "idle", 200, [] {});
    measure_staleness(pool, prefix + "beside_waves", 5, [&] { launch_waves(stream_); });
    measure_staleness(pool, prefix + "beside_10_ms_spin", 5,
                      [&] { launch_occupy(stream_, 10e-3); });
    launch_waves(stream_);
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

  const uint32_t processors_;
  const uint32_t threads_per_processor_;
  double cycles_per_second_ = 0;
  Stream stream_;
  Stream high_;
  DeviceArray<unsigned char> flushed_;
  PinnedArray<uint32_t> begun_;
  DeviceArray<uint32_t> sink_;
  Limits limits_{};
  Report report_;
  uint64_t batches_run_ = 0;
};

}  // namespace
}  // namespace kvasir

int main(int argc, char** argv) {
  using namespace kvasir;
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [MARKDOWN_FILE]\n", argv[0]);
    return 2;
  }
  const cudaDeviceProp device = require_gpu();
  Benchmark benchmark(device);
  benchmark.run();
  if (argc == 2) {
    benchmark.report().write(argv[1], std::string("Device: ") + device.name);
  }
  return 0;
}
