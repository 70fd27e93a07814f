// Cases that read prompts: their hashes, and the search for their blocks in several pools.
// The kernels must be included before this header.
#pragma once

#include "benchmark_device.cuh"
#include "benchmark_prompts.cuh"

namespace kvasir {

class PromptCases {
 public:
  PromptCases(BenchmarkDevice& device, Report& report)
      : device_(device),
        stream_(device.stream()),
        high_(Stream::Priority::kHighest),
        report_(report) {}

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

  // ---- (b) probes -------------------------------------------------------------------------------

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
            device_.flush();
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
      figure(prefix + "resolved_share", 100 * resolved / device_.limits().lines_per_second,
             "% of limit_random_64_bytes");
      figure(prefix + "look_ups", look_ups / 1e9, "G needed look-ups/s");
      figure(prefix + "look_ups_share", 100 * look_ups / device_.limits().lines_per_second,
             "% of limit_random_64_bytes");
    }
  }

  // ---- (f) probe latency ------------------------------------------------------------------------

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
      alone.push_back(stream_.seconds([&] { device_.launch_waves(); }));
    }
    std::vector<double> beside;
    std::vector<double> slowed;
    for (int i = 0; i < 5; i++) {
      slowed.push_back(stream_.seconds([&] {
        device_.launch_waves();
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

 private:
  void measure_hash(const char* name, HashFormat format, int tokens_per_block,
                    const HashBatch& batch, int prompts, double bytes) {
    std::vector<double> local;
    std::vector<double> chain;
    for (int i = 0; i < 20; i++) {
      local.push_back(stream_.seconds([&] {
        kvasir_hash_local<<<6 * device_.processors(), 128, 0, stream_.get()>>>(
            format, tokens_per_block, batch, prompts);
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
    figure(prefix + "local_share",
           100 * bytes / median(local) / device_.limits().read_bytes_per_second, "% of limit_read");
    figure(prefix + "chain", median(chain) * 1e6, "us");
    figure(prefix + "both", bytes / both / 1e9, "GB/s");
    figure(prefix + "both_share", 100 * bytes / both / device_.limits().read_bytes_per_second,
           "% of limit_read");
  }

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

  void figure(const std::string& name, double value, const char* unit) {
    report_.figure(name, value, unit);
  }

  BenchmarkDevice& device_;
  Stream& stream_;
  const Stream high_;
  Report& report_;
};

}  // namespace kvasir
