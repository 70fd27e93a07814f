// The device that the benchmark measures: its limits, and loads that fill it next to a measurement.
// The kernels must be included before this header.
#pragma once

#include "benchmark_pool.cuh"

namespace kvasir {

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

class BenchmarkDevice {
 public:
  explicit BenchmarkDevice(const cudaDeviceProp& device)
      : processors_(static_cast<uint32_t>(device.multiProcessorCount)),
        threads_per_processor_(static_cast<uint32_t>(device.maxThreadsPerMultiProcessor)),
        stream_(Stream::Priority::kLowest),
        flushed_(size_t{256} << 20),
        begun_(1),
        sink_(1) {
    int kilohertz = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    cycles_per_second_ = 1e3 * kilohertz;
  }

  uint32_t processors() const { return processors_; }
  // Of the lowest priority.
  Stream& stream() { return stream_; }
  const Limits& limits() const { return limits_; }

  // Evicts a benchmark's data from the L2 cache.
  void flush() { CUDA_CHECK(cudaMemsetAsync(flushed_.data(), 0, flushed_.bytes(), stream_.get())); }

  // Random accesses are to `lines` lines of 64 bytes.
  void measure_limits(uint64_t lines, Report& report) {
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
    report.figure("limit_read", limits_.read_bytes_per_second / 1e9, "GB/s");
    CHECK(lines * 64 <= bytes);
    const double best = std::max({random_rate<1>(words, lines), random_rate<2>(words, lines),
                                  random_rate<4>(words, lines), random_rate<8>(words, lines)});
    limits_.lines_per_second = best;
    report.figure("limit_random_64_bytes", best / 1e9, "G accesses/s");
  }

  // Thread blocks that fill the device many times over.
  void launch_waves() {
    const uint32_t per_wave = processors_ * (threads_per_processor_ / 512);
    begun_[0] = 0;
    work<<<per_wave * 400, 512, 0, stream_.get()>>>(reinterpret_cast<const uint4*>(flushed_.data()),
                                                    flushed_.bytes() / sizeof(uint4), 32,
                                                    sink_.data(), begun_.data());
    CUDA_CHECK(cudaGetLastError());
    wait_for_begin();
  }

  // Thread blocks that fill the device once, and stay.
  void launch_occupy(double seconds) {
    begun_[0] = 0;
    occupy<<<processors_*(threads_per_processor_ / 512), 512, 0, stream_.get()>>>(
        static_cast<long long>(seconds * cycles_per_second_), begun_.data());
    CUDA_CHECK(cudaGetLastError());
    wait_for_begin();
  }

 private:
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

  void wait_for_begin() {
    volatile uint32_t* begun = begun_.data();
    const double deadline = host_seconds() + 10;
    while (*begun == 0) {
      CHECK(host_seconds() < deadline);
    }
  }

  const uint32_t processors_;
  const uint32_t threads_per_processor_;
  double cycles_per_second_ = 0;
  Stream stream_;
  DeviceArray<unsigned char> flushed_;
  PinnedArray<uint32_t> begun_;
  DeviceArray<uint32_t> sink_;
  Limits limits_{};
};

}  // namespace kvasir
