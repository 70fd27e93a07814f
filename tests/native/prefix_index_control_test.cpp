// The negative control of prefix_index_test: the same index with a writer that ignores readers must
// fail the test.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

// The index's sources again, in another namespace and with epochs that end immediately.
#define kvasir careless
#define ReaderEpochs HeededEpochs
#include "kvasir/reader_epochs.hpp"
#undef ReaderEpochs
namespace careless {
class ReaderEpochs : public HeededEpochs {
 public:
  class Guard {
   public:
    explicit Guard(ReaderEpochs*) {}
  };
  uint64_t oldest() const { return current(); }
};
}  // namespace careless
#include "../../native/src/cpu/prefix_index.cpp"
#include "../../native/src/cpu/prefix_index_holders.cpp"
#include "../../native/src/cpu/prefix_index_match.cpp"
#include "../../native/src/cpu/prefix_index_memory.cpp"
#include "../../native/src/cpu/run_table.cpp"
#undef kvasir

#include "check.hpp"
#include "prefix_index_races.hpp"

int main() {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const pid_t child = fork();
    if (child == 0) {
      std::freopen("/dev/null", "w", stderr);
      careless::PrefixIndex index(careless::HashFormat::kKvasir, UINT64_MAX);
      IndexRace<careless::PrefixIndex, careless::KvasirBlockHash>(&index, seed).run(20000, 2);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 0;
  }
  std::fprintf(stderr, "an index that reuses memory in use by readers was not detected\n");
  return 1;
}
