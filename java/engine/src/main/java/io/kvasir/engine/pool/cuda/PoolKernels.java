package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.engine.pool.PoolShape;

/**
 * The launches of a pool's operations, on the pool's stream. {@code device_pool_core.hpp} describes
 * each kernel. No method waits.
 *
 * <p>Confined to the thread of the pool's owner.
 */
final class PoolKernels {

  private static final int WARP = 32;
  private static final int MAX_THREADS = 256;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

  /** Most operations of a {@link #submission}. */
  static final int MAX_SUBMISSION_OPERATIONS = 8;

  private static final int SUBMISSION_THREADS = 512;
  private static final int STAGED_UNIT_BYTES = 16;
  private static final int OPERATION_BYTES = 32;

  /** Index of the argument with the operations. */
  private static final int OPERATIONS = 5;

  private static final int SHAPE_BYTES = 5 * Integer.BYTES;

  private final DeviceApi device;
  private final DeviceApi.Stream stream;
  private final PoolShape shape;
  private final int threads;
  private final int mostBlocks;

  private final KernelArguments pool;
  private final KernelArguments poolAndEntries = KernelArguments.words(2);
  private final KernelArguments poolEntriesAndCount = KernelArguments.words(3);
  private final KernelArguments planned = KernelArguments.words(4);
  private final KernelArguments operations =
      new KernelArguments(
          Long.BYTES,
          Long.BYTES,
          Long.BYTES,
          Integer.BYTES,
          Integer.BYTES,
          MAX_SUBMISSION_OPERATIONS * OPERATION_BYTES);

  private final DeviceApi.Kernel leaseMatch;
  private final DeviceApi.Kernel leasePlan;
  private final DeviceApi.Kernel leaseUnpin;
  private final DeviceApi.Kernel leaseAdmit;
  private final DeviceApi.Kernel extendPlan;
  private final DeviceApi.Kernel extendGrow;
  private final DeviceApi.Kernel listVictims;
  private final DeviceApi.Kernel takeVictims;
  private final DeviceApi.Kernel commitPlan;
  private final DeviceApi.Kernel commitClaim;
  private final DeviceApi.Kernel commitName;
  private final DeviceApi.Kernel commitCheck;
  private final DeviceApi.Kernel commitFinish;
  private final DeviceApi.Kernel commitSequential;
  private final DeviceApi.Kernel releasePlan;
  private final DeviceApi.Kernel releaseDrop;
  private final DeviceApi.Kernel releaseQueue;
  private final DeviceApi.Kernel clear;
  private final DeviceApi.Kernel occupancy;
  private final DeviceApi.Kernel submission;

  PoolKernels(DeviceApi device, DeviceApi.Stream stream, PoolShape shape, long memory) {
    this.device = device;
    this.stream = stream;
    this.shape = shape;
    this.threads = Math.min(MAX_THREADS, (shape.capacityBlocks() + WARP - 1) / WARP * WARP);
    this.mostBlocks = device.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
    this.pool = KernelArguments.words(1).set(0, memory);
    poolAndEntries.set(0, memory);
    poolEntriesAndCount.set(0, memory);
    planned.set(0, memory);
    operations.set(0, memory);
    leaseMatch = device.kernel("kvasir_pool_lease_match");
    leasePlan = device.kernel("kvasir_pool_lease_plan");
    leaseUnpin = device.kernel("kvasir_pool_lease_unpin");
    leaseAdmit = device.kernel("kvasir_pool_lease_admit");
    extendPlan = device.kernel("kvasir_pool_extend_plan");
    extendGrow = device.kernel("kvasir_pool_extend_grow");
    listVictims = device.kernel("kvasir_pool_list_victims");
    takeVictims = device.kernel("kvasir_pool_take_victims");
    commitPlan = device.kernel("kvasir_pool_commit_plan");
    commitClaim = device.kernel("kvasir_pool_commit_claim");
    commitName = device.kernel("kvasir_pool_commit_name");
    commitCheck = device.kernel("kvasir_pool_commit_check");
    commitFinish = device.kernel("kvasir_pool_commit_finish");
    commitSequential = device.kernel("kvasir_pool_commit_sequential");
    releasePlan = device.kernel("kvasir_pool_release_plan");
    releaseDrop = device.kernel("kvasir_pool_release_drop");
    releaseQueue = device.kernel("kvasir_pool_release_queue");
    clear = device.kernel("kvasir_pool_clear");
    occupancy = device.kernel("kvasir_pool_occupancy");
    submission = device.kernel("kvasir_pool_submission");
  }

  void initialise(long memory, long page, long ring) {
    KernelArguments arguments =
        new KernelArguments(Long.BYTES, SHAPE_BYTES, Long.BYTES, Long.BYTES)
            .set(0, memory)
            .setField(1, 0, shape.capacityBlocks())
            .setField(1, 4, shape.tokensPerBlock())
            .setField(1, 8, shape.maxLeases())
            .setField(1, 12, shape.maxBlocksPerLease())
            .setField(1, 16, shape.eventCapacity())
            .set(2, page)
            .set(3, ring);
    wide(device.kernel("kvasir_pool_initialise"), arguments);
  }

  /** Leases. {@code evict} may be false only if the free blocks suffice. */
  void lease(long requests, int count, long result, boolean evict) {
    poolEntriesAndCount.set(1, requests).set(2, count);
    poolAndEntries.set(1, requests);
    blocks(leaseMatch, count, poolEntriesAndCount);
    plan(leasePlan, requests, count, result);
    blocks(leaseUnpin, count, poolEntriesAndCount);
    if (evict) {
      evict();
    }
    blocks(leaseAdmit, count, poolAndEntries);
  }

  void extend(long requests, int count, long result, boolean evict) {
    plan(extendPlan, requests, count, result);
    if (evict) {
      evict();
    }
    warps(extendGrow, count, poolAndEntries.set(1, requests));
  }

  void commit(long requests, int count, long result) {
    poolAndEntries.set(1, requests);
    plan(commitPlan, requests, count, result);
    blocks(commitClaim, count, poolAndEntries);
    blocks(commitName, count, poolAndEntries);
    blocks(commitCheck, count, poolAndEntries);
    blocks(commitFinish, count, poolAndEntries);
    blocks(commitSequential, 1, poolAndEntries);
  }

  void release(long leases, int count, long result) {
    plan(releasePlan, leases, count, result);
    blocks(releaseDrop, count, poolAndEntries.set(1, leases));
    blocks(releaseQueue, 1, poolAndEntries);
  }

  void clear() {
    wide(clear, pool);
  }

  void occupancy() {
    blocks(occupancy, 1, pool);
  }

  /**
   * Sets an operation of the next {@link #submission}.
   *
   * @param index from 0, below {@link #MAX_SUBMISSION_OPERATIONS}
   * @param entries its batch, in staging memory on the device
   * @param answers where the host reads the batch with its answers, if it has any
   * @param result a {@code PoolResult} on the host
   * @param kind a {@code PoolOperationKind}
   * @param count number of entries
   */
  void addOperation(int index, long entries, long answers, long result, int kind, int count) {
    int at = index * OPERATION_BYTES;
    operations
        .setField(OPERATIONS, at, entries)
        .setField(OPERATIONS, at + 8, answers)
        .setField(OPERATIONS, at + 16, result)
        .setField(OPERATIONS, at + 24, kind)
        .setField(OPERATIONS, at + 28, count);
  }

  /** Carries out operations in order and publishes the page, in one launch. */
  void submission(long staging, long onHost, int stagedBytes, int count) {
    operations.set(1, staging).set(2, onHost).set(3, stagedBytes / STAGED_UNIT_BYTES).set(4, count);
    int most = (shape.capacityBlocks() + WARP - 1) / WARP * WARP;
    device.launch(stream, submission, 1, Math.min(SUBMISSION_THREADS, most), operations);
  }

  private void evict() {
    blocks(listVictims, 1, pool);
    wide(takeVictims, pool);
  }

  private void plan(DeviceApi.Kernel kernel, long entries, int count, long result) {
    device.launch(stream, kernel, 1, threads, planned.set(1, entries).set(2, count).set(3, result));
  }

  /** Launches a thread for each block of the pool, in strides of the grid. */
  private void wide(DeviceApi.Kernel kernel, KernelArguments arguments) {
    blocks(kernel, (shape.capacityBlocks() + threads - 1) / threads, arguments);
  }

  /** Launches a warp for each entry. */
  private void warps(DeviceApi.Kernel kernel, int entries, KernelArguments arguments) {
    int perBlock = threads / WARP;
    blocks(kernel, (entries + perBlock - 1) / perBlock, arguments);
  }

  private void blocks(DeviceApi.Kernel kernel, int wanted, KernelArguments arguments) {
    device.launch(stream, kernel, Math.max(1, Math.min(wanted, mostBlocks)), threads, arguments);
  }
}
