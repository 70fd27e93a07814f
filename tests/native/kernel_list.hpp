// The kernels of the module and of KvStamp, by name.
#pragma once

// clang-format off
#define KVASIR_KERNELS(each) \
  each(kvasir_hash_chain) \
  each(kvasir_hash_local) \
  each(kvasir_kv_stamp) \
  each(kvasir_module_abi) \
  each(kvasir_pool_clear) \
  each(kvasir_pool_commit_check) \
  each(kvasir_pool_commit_claim) \
  each(kvasir_pool_commit_finish) \
  each(kvasir_pool_commit_name) \
  each(kvasir_pool_commit_plan) \
  each(kvasir_pool_commit_sequential) \
  each(kvasir_pool_extend_grow) \
  each(kvasir_pool_extend_plan) \
  each(kvasir_pool_initialise) \
  each(kvasir_pool_lease_admit) \
  each(kvasir_pool_lease_match) \
  each(kvasir_pool_lease_plan) \
  each(kvasir_pool_lease_unpin) \
  each(kvasir_pool_list_victims) \
  each(kvasir_pool_occupancy) \
  each(kvasir_pool_release_drop) \
  each(kvasir_pool_release_plan) \
  each(kvasir_pool_release_queue) \
  each(kvasir_pool_submission) \
  each(kvasir_pool_take_victims) \
  each(kvasir_probe)
// clang-format on
