// A whole submission in one launch of one thread block. The phases are those of the other kernels,
// with a barrier where they have a launch; so the result is the same. For small submissions this is
// much faster, because a launch costs more than a phase.

#include "device_primitives.cuh"

namespace kvasir {

// Batches with more entries have a warp for each entry instead of all threads.
constexpr uint32_t kFewEntries = 4;

// The pool's view is in shared memory, because fences empty the L1 cache.
struct SubmissionScratch {
  DevicePool pool;
  union {
    LeaseMatchScratch lease_match;
    LeasePlanScratch lease_plan;
    ExtendPlanScratch extend_plan;
    BlockSums sums;
    CommitPlanScratch commit_plan;
    CommitFinishScratch commit_finish;
    ReleasePlanScratch release_plan;
    uint32_t first_valid;
  };
};

// Sixteen bytes of staging memory.
struct alignas(16) StagedWords {
  uint64_t words[2];
};

// Copies arrays that do not overlap, several loads in flight: a load from the host takes a
// microsecond.
template <typename Word>
KVASIR_DEVICE void copy_words(Word* to, const Word* from, uint32_t count) {
  constexpr uint32_t kAtOnce = 4;
  for (uint32_t first = threadIdx.x; first < count; first += kAtOnce * blockDim.x) {
    Word loaded[kAtOnce];
    for (uint32_t k = 0; k < kAtOnce; k++) {
      const uint32_t i = first + k * blockDim.x;
      loaded[k] = from[i < count ? i : first];
    }
    for (uint32_t k = 0; k < kAtOnce; k++) {
      const uint32_t i = first + k * blockDim.x;
      if (i < count) {
        to[i] = loaded[k];
      }
    }
  }
}

template <typename Request>
KVASIR_DEVICE void copy_answers(const PoolOperation& operation) {
  copy_words(static_cast<uint64_t*>(operation.answers),
             static_cast<const uint64_t*>(operation.entries),
             operation.count * static_cast<uint32_t>(sizeof(Request) / sizeof(uint64_t)));
}

KVASIR_DEVICE void run_eviction(const DevicePool& pool, SubmissionScratch& scratch) {
  list_victims(pool, scratch.sums);
  __syncthreads();
  take_victims(pool);
  __syncthreads();
}

KVASIR_DEVICE void run_lease(const DevicePool& pool, const PoolOperation& operation,
                             SubmissionScratch& scratch) {
  LeaseRequest* requests = static_cast<LeaseRequest*>(operation.entries);
  lease_match(pool, requests, operation.count, scratch.lease_match);
  __syncthreads();
  lease_plan(pool, requests, operation.count, operation.result, scratch.lease_plan);
  __syncthreads();
  lease_unpin<BlockTeam>(pool, requests, operation.count);
  __syncthreads();
  run_eviction(pool, scratch);
  if (operation.count <= kFewEntries) {
    lease_admit<BlockTeam>(pool, requests);
  } else {
    lease_admit<WarpTeam>(pool, requests);
  }
  __syncthreads();
  copy_answers<LeaseRequest>(operation);
}

KVASIR_DEVICE void run_extend(const DevicePool& pool, const PoolOperation& operation,
                              SubmissionScratch& scratch) {
  ExtendRequest* requests = static_cast<ExtendRequest*>(operation.entries);
  extend_plan(pool, requests, operation.count, operation.result, scratch.extend_plan);
  __syncthreads();
  run_eviction(pool, scratch);
  extend_grow(pool, requests);
  __syncthreads();
  copy_answers<ExtendRequest>(operation);
}

template <typename Team>
KVASIR_DEVICE void run_commit_phases(const DevicePool& pool, const CommitRequest* requests,
                                     SubmissionScratch& scratch) {
  commit_claim<Team>(pool, requests);
  __syncthreads();
  commit_name<Team>(pool, requests);
  __syncthreads();
  commit_check<Team>(pool, requests);
  __syncthreads();
  commit_finish<Team>(pool, requests, scratch.commit_finish);
}

KVASIR_DEVICE void run_commit(const DevicePool& pool, const PoolOperation& operation,
                              SubmissionScratch& scratch) {
  CommitRequest* requests = static_cast<CommitRequest*>(operation.entries);
  commit_plan(pool, requests, operation.count, operation.result, scratch.commit_plan);
  __syncthreads();
  if (operation.count <= kFewEntries) {
    run_commit_phases<BlockTeam>(pool, requests, scratch);
  } else {
    run_commit_phases<WarpTeam>(pool, requests, scratch);
  }
  __syncthreads();
  commit_sequential(pool, requests);
}

KVASIR_DEVICE void run_release(const DevicePool& pool, const PoolOperation& operation,
                               SubmissionScratch& scratch) {
  const int32_t* leases = static_cast<const int32_t*>(operation.entries);
  release_plan(pool, leases, operation.count, operation.result, scratch.release_plan);
  __syncthreads();
  if (operation.count <= kFewEntries) {
    release_drop<BlockTeam>(pool, leases);
  } else {
    release_drop<WarpTeam>(pool, leases);
  }
  __syncthreads();
  release_queue(pool, leases, scratch.sums);
}

}  // namespace kvasir

// Launched with one thread block of at most 512 threads. Copies `staged` units of staging memory
// from the host, carries out the operations, whose entries are in that memory, in order, copies
// their answers to the host, and publishes the page.
extern "C" __global__ void __launch_bounds__(512, 1)
    kvasir_pool_submission(const kvasir::DevicePool* memory, kvasir::StagedWords* staging,
                           const kvasir::StagedWords* on_host, uint32_t staged, uint32_t count,
                           const kvasir::PoolOperations operations) {
  using namespace kvasir;
  KVASIR_SHARED(SubmissionScratch, scratch);
  static_assert(sizeof(DevicePool) % sizeof(uint64_t) == 0, "copied as words");
  copy_words(reinterpret_cast<uint64_t*>(&scratch.pool), reinterpret_cast<const uint64_t*>(memory),
             static_cast<uint32_t>(sizeof(DevicePool) / sizeof(uint64_t)));
  copy_words(staging, on_host, staged);
  __syncthreads();
  for (uint32_t i = 0; i < count; i++) {
    const DevicePool& pool = scratch.pool;
    const PoolOperation operation = operations.operations[i];
    switch (operation.kind) {
      case PoolOperationKind::kLease:
        run_lease(pool, operation, scratch);
        break;
      case PoolOperationKind::kExtend:
        run_extend(pool, operation, scratch);
        break;
      case PoolOperationKind::kCommit:
        run_commit(pool, operation, scratch);
        break;
      case PoolOperationKind::kRelease:
        run_release(pool, operation, scratch);
        break;
    }
    __syncthreads();
  }
  occupancy(scratch.pool, scratch.first_valid);
}
