// Negative controls of ptx_pool_test: without one of its barriers or fences the PTX of a kernel is
// found faulty, by a race, by threads at different barriers, or by a wrong answer.
//
// The seed KVASIR_FUZZ_SEED (1) selects the statements that are removed; KVASIR_LONG=1 removes each
// that the histories reach, one after the other.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "fuzz.hpp"
#include "ptx_device.hpp"

namespace kvasir {
namespace {

constexpr int kSteps = 40;
constexpr uint32_t kChosen = 10;  // of the fast form

uint64_t seeds() { return long_form() ? 8 : 3; }

struct Site {
  std::string kernel;
  std::string opcode;
  uint32_t line;
};

struct Count {
  uint32_t removed = 0;
  uint32_t noticed = 0;
};

template <typename AfterStep>
void run_all(ptx::Module& module, AfterStep after_step) {
  for (uint64_t seed = 1; seed <= seeds(); seed++) {
    PtxDevice device(module);
    run_history(device, seed, kSteps, [&] { after_step(device); });
    for (uint64_t shared = 0; shared < 3; shared++) {
      run_shared_history(device, 3 * seed + shared, kSteps, [&] { after_step(device); });
    }
  }
}

// The barriers and fences that histories without a fault reach.
std::vector<Site> sites_of(const std::string& text) {
  ptx::Module module(text);
  run_all(module, [](PtxDevice& device) { CHECK(device.take_races() == 0); });
  std::vector<Site> sites;
  for (const ptx::Kernel& kernel : module.kernels()) {
    for (const ptx::Instruction& instruction : kernel.code) {
      const bool orders = instruction.op == ptx::Op::kBlockBarrier ||
                          instruction.op == ptx::Op::kWarpBarrier ||
                          instruction.op == ptx::Op::kFence;
      if (orders && instruction.executed > 0) {
        sites.push_back({kernel.name, *instruction.opcode, instruction.line});
      }
    }
  }
  return sites;
}

std::string without_line(const std::string& text, uint32_t removed) {
  std::istringstream lines(text);
  std::string result;
  uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    result += (++number == removed ? "" : line) + "\n";
  }
  return result;
}

// How the same histories fail; empty if they do not.
std::string failure_without(const std::string& text, const Site& site) {
  return failure_of([&] {
    ptx::Module module(without_line(text, site.line));
    run_all(module, [](PtxDevice& device) {
      for (const auto& [before, now] : device.races()) {
        throw ptx::Fault("a race of PTX lines " + std::to_string(before) + " and " +
                         std::to_string(now) + ", seed " + std::to_string(g_seed));
      }
    });
  });
}

// The same in a process of its own: what the kernels damage may also crash the histories, or let
// them run for ever.
std::string failure_in_child(const std::string& text, const Site& site) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const rlim_t seconds = long_form() ? 300 : 30;
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    const std::string failure = failure_without(text, site);
    const ssize_t written = write(ends[1], failure.data(), failure.size());
    _exit(written == static_cast<ssize_t>(failure.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string failure;
  char buffer[512];
  for (ssize_t bytes = 0; (bytes = read(ends[0], buffer, sizeof buffer)) > 0;) {
    failure.append(buffer, static_cast<size_t>(bytes));
  }
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status == 0 ? failure : "the test is ended by signal " + std::to_string(WTERMSIG(status));
}

int run(const std::string& path) {
  const std::string text = ptx::read_text(path);
  std::vector<Site> sites = sites_of(text);
  const uint64_t seed = fuzz_setting("KVASIR_FUZZ_SEED", 1);
  std::printf("ptx_mutation_test: KVASIR_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
  if (!long_form()) {
    TestRandom random(seed);
    for (size_t i = sites.size(); i > 1; i--) {
      std::swap(sites[i - 1], sites[random.below(static_cast<uint32_t>(i))]);
    }
    sites.resize(std::min<size_t>(sites.size(), kChosen));
  }
  std::map<std::string, Count> counts;
  for (const Site& site : sites) {
    const std::string failure = failure_in_child(text, site);
    Count& count = counts[site.opcode];
    count.removed++;
    count.noticed += failure.empty() ? 0 : 1;
    std::printf("%s without %s of PTX line %u: %s\n", site.kernel.c_str(), site.opcode.c_str(),
                site.line, failure.empty() ? "not noticed" : failure.c_str());
    std::fflush(stdout);
  }
  for (const auto& [opcode, count] : counts) {
    std::printf("%s: %u removed, %u noticed\n", opcode.c_str(), count.removed, count.noticed);
  }
  // Some barriers only keep the threads of a block closer than their data needs.
  const Count& barriers = counts["bar.sync"];
  CHECK(barriers.noticed > 0 && barriers.noticed * 2 > barriers.removed);
  // Some fences are needed by the memory model's axioms alone, or where one thread does it all.
  const Count& device = counts["fence.acq_rel.gpu"];
  const Count& system = counts["fence.acq_rel.sys"];
  CHECK(!long_form() || (device.noticed + system.noticed) * 2 > device.removed + system.removed);
  return 0;
}

}  // namespace
}  // namespace kvasir

int main() { return kvasir::run_ptx_test("ptx_mutation_test", kvasir::run); }
