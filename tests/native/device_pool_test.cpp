// The device pool's kernels, run on the host by the shim, beside the CPU pool: random histories
// give the same answers, events, occupancy, probes and sharing of blocks, whatever the
// interleaving.

#include "cuda_shim.hpp"

// The kernels themselves; the shim must come before them.
#include <map>
#include <set>

#include "../../native/src/cuda/kernels.cu"
#include "kvasir/block_pool.hpp"
#include "prompt.hpp"

namespace kvasir {
namespace {

// The launches of each operation, as a driver submits them on one stream.
class ShimPool {
 public:
  ShimPool(const PoolShape& shape, uint64_t seed)
      : shape_(shape),
        random_(seed),
        memory_(static_cast<char*>(std::aligned_alloc(256, rounded(device_pool_bytes(shape))))),
        ring_(static_cast<char*>(std::aligned_alloc(256, rounded(event_ring_bytes(shape))))) {
    CHECK(device_pool_supports(shape));
    shim::Scheduler::get().seed(seed);
    std::memset(memory_.get(), 0xa5, device_pool_bytes(shape));
    std::memset(ring_.get(), 0xa5, event_ring_bytes(shape));
    wide(kvasir_pool_initialise, pool(), shape, &page_, ring());
  }

  PoolResult lease(LeaseRequest* requests, uint32_t count) {
    PoolResult result{};
    wide(kvasir_pool_lease_match, view(), requests, count);
    one_block(kvasir_pool_lease_plan, view(), requests, count, &result);
    wide(kvasir_pool_lease_unpin, view(), requests, count);
    evict();
    wide(kvasir_pool_lease_admit, view(), requests);
    occupancy();
    return result;
  }

  PoolResult extend(ExtendRequest* requests, uint32_t count) {
    PoolResult result{};
    one_block(kvasir_pool_extend_plan, view(), requests, count, &result);
    evict();
    wide(kvasir_pool_extend_grow, view(), requests);
    occupancy();
    return result;
  }

  PoolResult commit(CommitRequest* requests, uint32_t count) {
    PoolResult result{};
    one_block(kvasir_pool_commit_plan, view(), requests, count, &result);
    wide(kvasir_pool_commit_claim, view(), requests);
    wide(kvasir_pool_commit_name, view(), requests);
    wide(kvasir_pool_commit_check, view(), requests);
    wide(kvasir_pool_commit_finish, view(), requests);
    collisions_ += view()->plan->collided;
    one_block(kvasir_pool_commit_sequential, view(), requests);
    occupancy();
    return result;
  }

  PoolResult release(const int32_t* leases, uint32_t count) {
    PoolResult result{};
    one_block(kvasir_pool_release_plan, view(), leases, count, &result);
    wide(kvasir_pool_release_drop, view(), leases);
    occupancy();
    return result;
  }

  void clear() {
    wide(kvasir_pool_clear, view());
    occupancy();
  }

  const OccupancyPage& page() const { return page_; }
  uint64_t next_event() const { return ring()->next_event; }
  uint32_t read_events(uint64_t* from, BlockEvent* events, uint32_t count) const {
    CHECK(ring()->reserved_end == ring()->next_event);
    return kvasir::read_events(ring(), shape_.event_capacity, from, events, count);
  }
  const uint32_t* table(int32_t lease) const { return block_table(*view(), lease); }
  uint64_t collisions() const { return collisions_; }
  const DevicePool* view() const { return reinterpret_cast<const DevicePool*>(memory_.get()); }

  template <typename Kernel, typename... Arguments>
  void wide(Kernel kernel, Arguments... arguments) {
    const uint32_t grid = 1 + random_.below(3);
    const uint32_t threads = 32 * (1 + random_.below(2));
    if (watched_blocks_ == 0) {
      shim::launch(kernel, grid, threads, arguments...);
      check_ring();
      return;
    }
    // One search is done by a warp, four by four lanes each.
    const DevicePool* pools[] = {view(), view(), view(), view()};
    const uint32_t searches = random_.below(2) == 0 ? 1 : 4;
    const uint32_t offsets[] = {0, watched_blocks_};
    uint32_t matched[4] = {};
    const auto probe = [&] { kvasir_probe(pools, searches, watched_, offsets, 1, matched); };
    shim::launch_beside(probe, kernel, grid, threads, arguments...);
    for (uint32_t i = 0; i < searches; i++) {
      CHECK(matched[i] == watched_blocks_);
    }
    check_ring();
  }

  // From now on probes run beside the pool's launches and must find these names, which are held.
  void watch(const uint64_t* hashes, uint32_t blocks) {
    watched_ = hashes;
    watched_blocks_ = blocks;
  }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static size_t rounded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

  template <typename Kernel, typename... Arguments>
  void one_block(Kernel kernel, Arguments... arguments) {
    shim::launch(kernel, 1, 32 * (1 + random_.below(2)), arguments...);
    check_ring();
  }

  // Between the launches of an operation a reader gets no event of the operation, nor what it has
  // overwritten.
  void check_ring() const {
    std::vector<BlockEvent> events(shape_.event_capacity);
    const uint64_t oldest =
        next_event() > shape_.event_capacity ? next_event() - shape_.event_capacity : 0;
    for (uint64_t first = oldest; first < next_event(); first++) {
      uint64_t from = first;
      const uint32_t count =
          kvasir::read_events(ring(), shape_.event_capacity, &from, events.data(), 4);
      for (uint32_t i = 0; i < count; i++) {
        CHECK(events[i].sequence == first + i);
      }
      first += count;
    }
  }

  void evict() {
    for (uint32_t pass = 0; pass < kSelectPasses; pass++) {
      wide(kvasir_pool_select, view());
    }
    wide(kvasir_pool_take_victims, view());
    wide(kvasir_pool_removed_events, view());
  }

  void occupancy() { wide(kvasir_pool_occupancy, view()); }

  DevicePool* pool() { return reinterpret_cast<DevicePool*>(memory_.get()); }
  EventRingHead* ring() const { return reinterpret_cast<EventRingHead*>(ring_.get()); }

  const PoolShape shape_;
  TestRandom random_;
  OccupancyPage page_{};
  uint64_t collisions_ = 0;
  const uint64_t* watched_ = nullptr;
  uint32_t watched_blocks_ = 0;
  std::unique_ptr<char, Free> memory_;
  std::unique_ptr<char, Free> ring_;
};

struct Running {
  int32_t lease;
  const Prompt* prompt;
  uint32_t blocks;
  uint32_t committed;
};

// Hashes whose home is among the first sixteenth of the buckets, so that keys overflow far.
void crowd(std::vector<uint64_t>& hashes) {
  uint64_t inverse = 1;  // of the directory's multiplier
  for (int i = 0; i < 6; i++) {
    inverse *= 2 - 0x9e3779b97f4a7c15ull * inverse;
  }
  for (uint64_t& hash : hashes) {
    hash = inverse * (hash >> 4);
  }
}

// What a suite of histories has met; a test that never meets something does not test it.
struct Seen {
  uint64_t refused, matched, evicted, collisions, shared, cleared, lost_events, watched;
};

// Both pools, driven by the same calls.
class History {
 public:
  History(uint64_t seed, const PoolShape& shape, uint32_t bits, bool crowded)
      : random_(seed), shape_(shape), cpu_(shape), device_(shape, seed * 7919) {
    const uint32_t most = shape.max_blocks_per_lease - 4;
    for (int i = 0; i < 24; i++) {
      const Prompt* start = i == 0 ? nullptr : &prompts_[random_.below(static_cast<uint32_t>(i))];
      prompts_.push_back(
          make_prompt(random_, start, 1 + random_.below(most), shape.tokens_per_block, bits));
    }
    for (Prompt& prompt : prompts_) {
      if (crowded) {
        crowd(prompt.hashes);
      }
    }
    compare();
  }

  void step() {
    watch_names();
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        lease();
        break;
      case 3:
      case 4:
        extend();
        break;
      case 5:
      case 6:
      case 7:
        commit();
        break;
      case 8:
        if (random_.below(6) == 0) {
          cpu_.clear();
          device_.watch(nullptr, 0);
          device_.clear();
          seen_.cleared++;
        }
        break;
      case 9:
        refuse_wrong_calls();
        break;
      default:
        release();
        break;
    }
    compare();
  }

  Seen seen() {
    seen_.evicted = read_occupancy(cpu_.page()).evicted_blocks;
    seen_.collisions = device_.collisions();
    return seen_;
  }

 private:
  static void check_same(PoolResult a, PoolResult b) {
    CHECK(a.error == b.error && a.entry == b.entry);
  }

  template <typename T>
  static uint32_t size(const std::vector<T>& v) {
    return static_cast<uint32_t>(v.size());
  }

  // Some of the running requests, in random order, first in `running_`.
  uint32_t choose(uint32_t most) {
    const uint32_t wanted = 1 + random_.below(most);
    uint32_t chosen = 0;
    for (; chosen < wanted && chosen < size(running_); chosen++) {
      std::swap(running_[chosen], running_[chosen + random_.below(size(running_) - chosen)]);
    }
    return chosen;
  }

  // The names that one running request bears; nothing but clear may take them away in this step.
  void watch_names() {
    device_.watch(nullptr, 0);
    if (running_.empty() || random_.below(2) == 0) {
      return;
    }
    const Running& running = running_[random_.below(size(running_))];
    const DevicePool& pool = *device_.view();
    const std::vector<uint64_t>& hashes = running.prompt->hashes;
    uint32_t named = 0;
    for (; named < running.committed; named++) {
      const uint32_t block = device_.table(running.lease)[named];
      if ((pool.holders[block] & kNamedBit) == 0 || pool.names[block].hash != hashes[named]) {
        break;
      }
    }
    device_.watch(hashes.data(), named);
    seen_.watched += named;
  }

  void lease() {
    std::vector<LeaseRequest> requests(1 + random_.below(6));
    std::vector<const Prompt*> wanted;
    const Prompt* common = &prompts_[random_.below(size(prompts_))];
    for (LeaseRequest& request : requests) {
      const Prompt& prompt =
          random_.below(3) == 0 ? *common : prompts_[random_.below(size(prompts_))];
      const uint32_t full = size(prompt.hashes);
      const uint64_t scope = random_.below(8) == 0 ? 1 : 0;
      request = {prompt.tokens.data(),
                 prompt.hashes.data(),
                 scope * 5,
                 0,
                 static_cast<uint32_t>(scope),
                 random_.below(4) == 0 ? random_.below(full + 1) : full,
                 full + random_.below(3),
                 random_.below(4),
                 0,
                 0,
                 0};
      wanted.push_back(&prompt);
    }
    std::vector<LeaseRequest> twins = requests;
    check_same(cpu_.lease(requests.data(), size(requests)),
               device_.lease(twins.data(), size(twins)));
    for (size_t i = 0; i < requests.size(); i++) {
      CHECK(requests[i].lease == twins[i].lease);
      CHECK(requests[i].matched_blocks == twins[i].matched_blocks);
      CHECK(requests[i].missing_blocks == twins[i].missing_blocks);
      seen_.matched += requests[i].matched_blocks;
      if (requests[i].lease == kRefused) {
        seen_.refused++;
      } else {
        running_.push_back(
            {requests[i].lease, wanted[i], requests[i].blocks, requests[i].matched_blocks});
      }
    }
  }

  void extend() {
    std::vector<ExtendRequest> requests;
    const uint32_t chosen = choose(4);
    for (uint32_t i = 0; i < chosen; i++) {
      const uint32_t room = shape_.max_blocks_per_lease - running_[i].blocks;
      requests.push_back({running_[i].lease, random_.below(room < 5 ? room + 1 : 6), 0});
    }
    std::vector<ExtendRequest> twins = requests;
    check_same(cpu_.extend(requests.data(), chosen), device_.extend(twins.data(), chosen));
    for (uint32_t i = 0; i < chosen; i++) {
      CHECK(requests[i].missing_blocks == twins[i].missing_blocks);
      seen_.refused += requests[i].missing_blocks != 0 ? 1 : 0;
      running_[i].blocks += requests[i].missing_blocks == 0 ? requests[i].blocks : 0;
    }
  }

  void commit() {
    std::vector<CommitRequest> requests;
    const uint32_t chosen = choose(8);
    for (uint32_t i = 0; i < chosen; i++) {
      Running& running = running_[i];
      const uint32_t left = size(running.prompt->hashes) - running.committed;
      const uint32_t to =
          running.committed + (random_.below(3) == 0 ? random_.below(left + 1) : left);
      requests.push_back({running.prompt->tokens.data() +
                              static_cast<size_t>(running.committed) * shape_.tokens_per_block,
                          running.prompt->hashes.data() + running.committed, running.lease,
                          running.committed, to, 0});
      running.committed = to;
    }
    std::vector<CommitRequest> twins = requests;
    check_same(cpu_.commit(requests.data(), chosen), device_.commit(twins.data(), chosen));
  }

  void release() {
    const uint32_t chosen = choose(5);
    std::vector<int32_t> leases;
    for (uint32_t i = 0; i < chosen; i++) {
      leases.push_back(running_[i].lease);
    }
    check_same(cpu_.release(leases.data(), chosen), device_.release(leases.data(), chosen));
    running_.erase(running_.begin(), running_.begin() + chosen);
  }

  void refuse_wrong_calls() {
    const uint32_t chosen = choose(3);
    std::vector<int32_t> leases;
    std::vector<CommitRequest> commits;
    std::vector<ExtendRequest> extensions;
    for (uint32_t i = 0; i < chosen; i++) {
      const Running& running = running_[i];
      leases.push_back(running.lease);
      const uint32_t from = running.committed + (i == 1 ? 1 : 0);
      commits.push_back({nullptr, nullptr, running.lease, from, running.blocks + 1, 0});
      extensions.push_back({running.lease, i == 1 ? shape_.max_blocks_per_lease : 1, 0});
    }
    const int32_t wrong = random_.below(2) == 0 ? 1000 : -1;
    leases.push_back(leases.empty() || random_.below(2) == 0 ? wrong : leases[0]);
    commits.push_back({nullptr, nullptr, leases.back(), 0, 0, 0});
    extensions.push_back({leases.back(), 0, 0});
    check_same(cpu_.release(leases.data(), size(leases)),
               device_.release(leases.data(), size(leases)));
    check_same(cpu_.commit(commits.data(), size(commits)),
               device_.commit(commits.data(), size(commits)));
    check_same(cpu_.extend(extensions.data(), size(extensions)),
               device_.extend(extensions.data(), size(extensions)));
    const Prompt& prompt = prompts_[random_.below(size(prompts_))];
    const uint32_t full = size(prompt.hashes);
    LeaseRequest requests[3] = {};
    for (LeaseRequest& request : requests) {
      request.tokens = prompt.tokens.data();
      request.hashes = prompt.hashes.data();
      request.matchable_blocks = full;
      request.blocks = full;
    }
    requests[1 + random_.below(2)].blocks = shape_.max_blocks_per_lease + 1;
    check_same(cpu_.lease(requests, 3), device_.lease(requests, 3));
  }

  void compare() {
    const Occupancy a = read_occupancy(cpu_.page());
    const Occupancy b = read_occupancy(device_.page());
    CHECK(std::memcmp(&a, &b, sizeof a) == 0);
    compare_events();
    compare_directories();
    compare_probes();
    compare_sharing();
  }

  void compare_events() {
    std::vector<BlockEvent> events(shape_.event_capacity + 1);
    const uint32_t drained = cpu_.events().drain(events.data(), size(events));
    const uint64_t next = device_.next_event();
    CHECK(next - seen_events_ >= drained);
    seen_.lost_events += next - seen_events_ - drained;
    std::vector<BlockEvent> twins(events.size());
    CHECK(device_.read_events(&seen_events_, twins.data(), size(twins)) == drained);
    for (uint32_t i = 0; i < drained; i++) {
      CHECK(events[i].sequence == next - drained + i);
      CHECK(std::memcmp(&events[i], &twins[i], sizeof twins[i]) == 0);
    }
    CHECK(seen_events_ == next);
  }

  // The same keys, and marks that say exactly where to go on.
  void compare_directories() {
    const Directory& mine = device_.view()->directory;
    std::multiset<uint64_t> keys[2];
    std::vector<uint64_t> passed(mine.bucket_count);
    for (uint64_t bucket = 0; bucket < mine.bucket_count; bucket++) {
      for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
        const uint64_t key = mine.buckets[bucket].keys[slot];
        const uint32_t block = mine.blocks[bucket * 8 + slot];
        CHECK((key == 0) == (block == kNoBlock));
        if (key != 0) {
          CHECK(block < shape_.capacity_blocks && device_.view()->names[block].hash == key);
          keys[0].insert(key);
          for (uint64_t at = directory_home(mine, key); at != bucket; at = next_bucket(mine, at)) {
            passed[at]++;
          }
        }
        const uint64_t other = cpu_.directory().buckets[bucket].keys[slot];
        if (other != 0) {
          keys[1].insert(other);
        }
      }
    }
    CHECK(keys[0] == keys[1]);
    for (uint64_t bucket = 0; bucket < mine.bucket_count; bucket++) {
      CHECK(mine.buckets[bucket].passed == passed[bucket]);
    }
  }

  void compare_probes() {
    if (random_.below(4) != 0) {
      return;
    }
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> offsets{0};
    for (const Prompt& prompt : prompts_) {
      hashes.insert(hashes.end(), prompt.hashes.begin(), prompt.hashes.end());
      offsets.push_back(size(hashes));
    }
    const Directory* cpus[] = {&cpu_.directory(), &cpu_.directory()};
    const DevicePool* devices[] = {device_.view(), device_.view()};
    std::vector<uint32_t> matched(2 * prompts_.size());
    std::vector<uint32_t> twins(matched.size());
    probe(cpus, 2, hashes.data(), offsets.data(), size(prompts_), matched.data());
    device_.wide(kvasir_probe, devices, 2, hashes.data(), offsets.data(), size(prompts_),
                 twins.data());
    CHECK(matched == twins);
    // A warp for every search.
    std::fill(twins.begin(), twins.end(), kNoBlock);
    shim::launch(kvasir_probe, size(twins), 32, devices, 2, hashes.data(), offsets.data(),
                 size(prompts_), twins.data());
    CHECK(matched == twins);
  }

  // Block numbers differ, but where one pool's leases share a block the other's do.
  void compare_sharing() {
    std::map<uint32_t, uint32_t> there;
    std::map<uint32_t, uint32_t> back;
    uint64_t places = 0;
    for (const Running& running : running_) {
      uint32_t length = 0;
      const uint32_t* table = cpu_.block_table(running.lease, &length);
      CHECK(table != nullptr && length == running.blocks);
      CHECK(device_.view()->leases[running.lease].blocks == length);
      const uint32_t* twin = device_.table(running.lease);
      for (uint32_t i = 0; i < length; i++) {
        CHECK(there.emplace(table[i], twin[i]).first->second == twin[i]);
        CHECK(back.emplace(twin[i], table[i]).first->second == table[i]);
      }
      places += length;
    }
    seen_.shared += places - there.size();
  }

  TestRandom random_;
  const PoolShape shape_;
  BlockPool cpu_;
  ShimPool device_;
  std::vector<Prompt> prompts_;
  std::vector<Running> running_;
  uint64_t seen_events_ = 0;
  Seen seen_{};
};

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  // Roomy, tight, long leases, few events kept.
  const PoolShape shapes[] = {{200, 4, 12, 24, 1u << 12},
                              {40, 1, 6, 20, 16},
                              {300, 3, 8, 100, 1u << 12},
                              {90, 5, 16, 33, 8}};
  Seen all{};
  // Switching stacks is slow under AddressSanitizer.
#if defined(__SANITIZE_ADDRESS__)
  const int steps = 16;
#else
  const int steps = 150;
#endif
  for (uint64_t seed = 1; seed <= 24; seed++) {
    g_seed = seed;
    History history(seed, shapes[seed % 4], seed % 3 == 0 ? 2 : 32, seed % 5 < 2);
    for (int step = 0; step < steps; step++) {
      history.step();
    }
    const Seen seen = history.seen();
    all.refused += seen.refused;
    all.matched += seen.matched;
    all.evicted += seen.evicted;
    all.collisions += seen.collisions;
    all.shared += seen.shared;
    all.cleared += seen.cleared;
    all.lost_events += seen.lost_events;
    all.watched += seen.watched;
  }
  std::printf(
      "device_pool_test: refused %llu, matched %llu, evicted %llu, collisions %llu, shared "
      "%llu, cleared %llu, lost events %llu\n",
      static_cast<unsigned long long>(all.refused), static_cast<unsigned long long>(all.matched),
      static_cast<unsigned long long>(all.evicted), static_cast<unsigned long long>(all.collisions),
      static_cast<unsigned long long>(all.shared), static_cast<unsigned long long>(all.cleared),
      static_cast<unsigned long long>(all.lost_events));
  CHECK(all.refused > 0 && all.matched > 0 && all.evicted > 0 && all.collisions > 0);
  CHECK(all.shared > 0 && all.cleared > 0 && all.lost_events > 0 && all.watched > 0);
  std::puts("device_pool_test: ok");
  return 0;
}
