// The launches of each operation of a device pool, in stream order. `Launches` has wide(kernel,
// arguments...), for kernels that take any number of thread blocks, and one_block(kernel,
// arguments...). The kernels must be included before this header. Does not wait for completion.
#pragma once

#include "kvasir/device_pool_core.hpp"

namespace kvasir {

template <typename Launches>
void submit_eviction(Launches& on, const DevicePool* pool) {
  on.one_block(kvasir_pool_list_victims, pool);
  on.wide(kvasir_pool_take_victims, pool);
}

template <typename Launches>
void submit_lease(Launches& on, const DevicePool* pool, LeaseRequest* requests, uint32_t count,
                  PoolResult* result) {
  on.wide(kvasir_pool_lease_match, pool, requests, count);
  on.one_block(kvasir_pool_lease_plan, pool, requests, count, result);
  on.wide(kvasir_pool_lease_unpin, pool, requests, count);
  submit_eviction(on, pool);
  on.wide(kvasir_pool_lease_admit, pool, requests);
  on.one_block(kvasir_pool_occupancy, pool);
}

template <typename Launches>
void submit_extend(Launches& on, const DevicePool* pool, ExtendRequest* requests, uint32_t count,
                   PoolResult* result) {
  on.one_block(kvasir_pool_extend_plan, pool, requests, count, result);
  submit_eviction(on, pool);
  on.wide(kvasir_pool_extend_grow, pool, requests);
  on.one_block(kvasir_pool_occupancy, pool);
}

template <typename Launches>
void submit_commit(Launches& on, const DevicePool* pool, CommitRequest* requests, uint32_t count,
                   PoolResult* result) {
  on.one_block(kvasir_pool_commit_plan, pool, requests, count, result);
  on.wide(kvasir_pool_commit_claim, pool, requests);
  on.wide(kvasir_pool_commit_name, pool, requests);
  on.wide(kvasir_pool_commit_check, pool, requests);
  on.wide(kvasir_pool_commit_finish, pool, requests);
  on.one_block(kvasir_pool_commit_sequential, pool, requests);
  on.one_block(kvasir_pool_occupancy, pool);
}

template <typename Launches>
void submit_release(Launches& on, const DevicePool* pool, const int32_t* leases, uint32_t count,
                    PoolResult* result) {
  on.one_block(kvasir_pool_release_plan, pool, leases, count, result);
  on.wide(kvasir_pool_release_drop, pool, leases);
  on.one_block(kvasir_pool_release_queue, pool, leases);
  on.one_block(kvasir_pool_occupancy, pool);
}

template <typename Launches>
void submit_clear(Launches& on, const DevicePool* pool) {
  on.wide(kvasir_pool_clear, pool);
  on.one_block(kvasir_pool_occupancy, pool);
}

}  // namespace kvasir
