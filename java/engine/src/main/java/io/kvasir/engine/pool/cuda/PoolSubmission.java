package io.kvasir.engine.pool.cuda;

import static io.kvasir.engine.pool.PoolRecords.COMMIT_BYTES;
import static io.kvasir.engine.pool.PoolRecords.EXTEND_BYTES;
import static io.kvasir.engine.pool.PoolRecords.LEASE_BYTES;
import static io.kvasir.engine.pool.PoolRecords.RESULT_BYTES;
import static io.kvasir.engine.pool.cuda.DeviceStaging.aligned;
import static io.kvasir.engine.pool.cuda.DeviceStaging.batchBytes;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolRecords;
import io.kvasir.engine.pool.PoolRefusal;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Operations of a pool that are sent to the device together. They are written to staging memory
 * when they are recorded, and awaited with one synchronisation. A small submission is one launch,
 * which also copies staging memory and answers; a large one is a copy and a launch for each phase.
 *
 * <p>Confined to the thread of the pool's owner.
 */
final class PoolSubmission implements AutoCloseable {

  private enum Kind {
    LEASE(0),
    EXTEND(1),
    COMMIT(2),
    RELEASE(3),
    CLEAR(-1);

    /** The {@code PoolOperationKind}; -1 for an operation that always has launches of its own. */
    private final int code;

    Kind(int code) {
      this.code = code;
    }
  }

  /** Maximum number of operations in a submission; more than any iteration needs. */
  private static final int MAX_OPERATIONS = 64;

  /**
   * Most blocks of leases and commits, and most leases, of a submission that is one launch of one
   * thread block. Beyond, many thread blocks are faster: docs/gpu.md.
   */
  static final int ONE_LAUNCH_BLOCKS = 1024;

  private static final int ONE_LAUNCH_LEASES = 4;

  /** Most bytes that a launch copies; beyond, the copy engine is faster. */
  private static final int ONE_LAUNCH_STAGED_BYTES = 64 << 10;

  private final DeviceApi device;
  private final DeviceApi.Stream stream;
  private final PoolKernels kernels;
  private final PoolShape shape;
  private final int tokensPerBlock;
  private final DeviceStaging staging;
  private final int oneLaunchBlocks;

  /** Address of a {@code PoolResult} for each operation, which the device writes. */
  private final long resultsAddress;

  private final ByteBuffer results;
  private final OccupancyPage page; // written once by each submission, after everything else
  private long completeAt; // the page's sequence then

  private final Kind[] kinds = new Kind[MAX_OPERATIONS];
  private final int[] entries = new int[MAX_OPERATIONS];
  private final int[] counts = new int[MAX_OPERATIONS];
  private final boolean[] evicts = new boolean[MAX_OPERATIONS];
  private int leasesAt;

  /** Position of the tokens of the next block of the batch that is being recorded. */
  private int tokensAt;

  /** Position of the sequence hash of that block. */
  private int hashesAt;

  private int recorded;
  private int sent;

  /** Blocks of the recorded leases and commits. */
  private long blocks;

  private long leases;
  private boolean cleared;
  private long events;

  PoolSubmission(
      DeviceApi device,
      DeviceApi.Stream stream,
      PoolKernels kernels,
      PoolShape shape,
      OccupancyPage page,
      int stagingBytes,
      int oneLaunchBlocks) {
    this.device = device;
    this.page = page;
    this.oneLaunchBlocks = oneLaunchBlocks;
    this.stream = stream;
    this.kernels = kernels;
    this.shape = shape;
    this.tokensPerBlock = shape.tokensPerBlock();
    this.resultsAddress = device.allocatePinned(MAX_OPERATIONS * RESULT_BYTES);
    this.results = NativeMemory.view(resultsAddress, MAX_OPERATIONS * RESULT_BYTES);
    try {
      this.staging = new DeviceStaging(device, stagingBytes);
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(() -> device.freePinned(resultsAddress)));
      throw e;
    }
  }

  /** Whether operations were sent since the last {@link #reset}. */
  boolean isInFlight() {
    return sent > 0;
  }

  /** Whether an operation with this size and maximum number of events can be recorded. */
  boolean canRecord(long bytes, long moreEvents) {
    return sent == 0
        && recorded < MAX_OPERATIONS - 1
        && staging.fits(bytes)
        && (recorded == 0 || events + moreEvents <= shape.eventCapacity());
  }

  /** Adds the maximum number of events of the operation that is recorded next. */
  void addExpectedEvents(long more) {
    events += more;
  }

  /** Ensures space for one operation. No operation may be recorded. */
  void makeRoom(long bytes) {
    if (!staging.fits(bytes)) {
      staging.grow(bytes);
    }
  }

  static long bytes(LeaseBatch batch, int tokensPerBlock) {
    return batchBytes((long) batch.size() * LEASE_BYTES, blocks(batch), tokensPerBlock);
  }

  static long bytes(CommitBatch batch, int tokensPerBlock) {
    return batchBytes((long) batch.size() * COMMIT_BYTES, blocks(batch), tokensPerBlock);
  }

  private static long blocks(LeaseBatch batch) {
    long blocks = 0;
    for (int i = 0; i < batch.size(); i++) {
      blocks += batch.matchableBlocks(i);
    }
    return blocks;
  }

  private static long blocks(CommitBatch batch) {
    long blocks = 0;
    for (int i = 0; i < batch.size(); i++) {
      blocks += batch.toBlock(i) - batch.fromBlock(i);
    }
    return blocks;
  }

  static long bytes(ExtendBatch batch) {
    return aligned((long) batch.size() * EXTEND_BYTES);
  }

  static long releaseBytes(int count) {
    return aligned((long) count * Integer.BYTES);
  }

  void lease(LeaseBatch batch, boolean evict) {
    int count = batch.size();
    int at = staging.reserve((long) count * LEASE_BYTES);
    reserveBlocks(blocks(batch));
    for (int i = 0; i < count; i++) {
      PoolRecords.putLease(
          staging.bytes(),
          at + i * LEASE_BYTES,
          batch,
          i,
          staging.onDevice(tokensAt),
          staging.onDevice(hashesAt));
      putBlocks(batch.tokens(i), batch.sequenceHashes(i), 0, batch.matchableBlocks(i));
    }
    record(Kind.LEASE, at, count, evict);
    for (int i = 0; i < count; i++) {
      blocks += batch.blocks(i);
    }
    leases += count;
    leasesAt = at;
  }

  void commit(CommitBatch batch) {
    int count = batch.size();
    int at = staging.reserve((long) count * COMMIT_BYTES);
    reserveBlocks(blocks(batch));
    for (int i = 0; i < count; i++) {
      PoolRecords.putCommit(
          staging.bytes(),
          at + i * COMMIT_BYTES,
          batch,
          i,
          staging.onDevice(tokensAt),
          staging.onDevice(hashesAt));
      putBlocks(batch.tokens(i), batch.sequenceHashes(i), batch.fromBlock(i), batch.toBlock(i));
    }
    record(Kind.COMMIT, at, count, false);
    blocks += blocks(batch);
  }

  /** Reserves space for the tokens and hashes of a batch; {@link #putBlocks} fills it in order. */
  private void reserveBlocks(long blocks) {
    tokensAt = staging.reserve(blocks * tokensPerBlock * Integer.BYTES);
    hashesAt = staging.reserve(blocks * Long.BYTES);
  }

  private void putBlocks(int[] tokens, long[] hashes, int from, int to) {
    int count = to - from;
    staging.putInts(tokensAt, tokens, from * tokensPerBlock, count * tokensPerBlock);
    staging.putLongs(hashesAt, hashes, from, count);
    tokensAt += count * tokensPerBlock * Integer.BYTES;
    hashesAt += count * Long.BYTES;
  }

  void extend(ExtendBatch batch, boolean evict) {
    int at = staging.reserve((long) batch.size() * EXTEND_BYTES);
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.putExtend(staging.bytes(), at + i * EXTEND_BYTES, batch, i);
    }
    record(Kind.EXTEND, at, batch.size(), evict);
  }

  void release(int[] leases, int count) {
    int at = staging.reserve((long) count * Integer.BYTES);
    staging.putInts(at, leases, 0, count);
    record(Kind.RELEASE, at, count, false);
  }

  void clear() {
    record(Kind.CLEAR, 0, 0, false);
    cleared = true;
  }

  private void record(Kind kind, int at, int count, boolean evict) {
    kinds[recorded] = kind;
    entries[recorded] = at;
    counts[recorded] = count;
    evicts[recorded] = evict;
    recorded++;
  }

  /** Sends the recorded operations. */
  void send() {
    if (sent == recorded) {
      return;
    }
    for (int i = 0; i < recorded; i++) {
      results.putLong(i * RESULT_BYTES, 0);
    }
    completeAt = page.sequence() + 2;
    if (isSmall()) {
      sendInOneLaunch();
    } else {
      sendInPhases();
    }
    sent = recorded;
  }

  private boolean isSmall() {
    return recorded <= PoolKernels.MAX_SUBMISSION_OPERATIONS
        && blocks <= oneLaunchBlocks
        && leases <= ONE_LAUNCH_LEASES
        && !cleared;
  }

  private void sendInOneLaunch() {
    boolean copies = staging.used() <= ONE_LAUNCH_STAGED_BYTES;
    if (!copies) {
      staging.copyToDevice(stream);
    }
    for (int i = 0; i < recorded; i++) {
      kernels.addOperation(
          i,
          staging.onDevice(entries[i]),
          staging.onHost(entries[i]),
          resultsAddress + (long) i * RESULT_BYTES,
          kinds[i].code,
          counts[i]);
    }
    kernels.submission(
        staging.onDevice(0), staging.onHost(0), copies ? staging.used() : 0, recorded);
  }

  private void sendInPhases() {
    if (staging.used() > 0) {
      staging.copyToDevice(stream);
    }
    for (int i = 0; i < recorded; i++) {
      long at = staging.onDevice(entries[i]);
      long result = resultsAddress + (long) i * RESULT_BYTES;
      switch (kinds[i]) {
        case LEASE -> {
          kernels.lease(at, counts[i], result, evicts[i]);
          staging.copyFromDevice(stream, entries[i], counts[i] * LEASE_BYTES);
        }
        case EXTEND -> {
          kernels.extend(at, counts[i], result, evicts[i]);
          staging.copyFromDevice(stream, entries[i], counts[i] * EXTEND_BYTES);
        }
        case COMMIT -> kernels.commit(at, counts[i], result);
        case RELEASE -> kernels.release(at, counts[i], result);
        case CLEAR -> kernels.clear();
      }
    }
    kernels.occupancy();
  }

  /** Waits for the sent operations and checks that their results agree with the ledger. */
  void await() {
    device.synchronize(stream, () -> page.sequence() == completeAt);
    for (int i = 0; i < sent; i++) {
      int error = results.getInt(i * RESULT_BYTES);
      if (error != PoolRefusal.NONE) {
        throw disagreement(kinds[i], results.getInt(i * RESULT_BYTES + 4), error);
      }
      if (kinds[i] == Kind.EXTEND) {
        requireGranted(i);
      }
    }
  }

  /** Copies the answers to a lease operation, which must be complete, into its batch. */
  void readAnswers(LeaseBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.readLeaseAnswer(staging.bytes(), leasesAt + i * LEASE_BYTES, batch, i);
    }
  }

  /** Removes all operations, which must be complete. */
  void reset() {
    Arrays.fill(kinds, 0, recorded, null);
    recorded = 0;
    sent = 0;
    blocks = 0;
    leases = 0;
    cleared = false;
    events = 0;
    staging.reset();
  }

  /**
   * Copies device memory of the pool to the host after all sent operations, and waits. Staging
   * memory must have space for it.
   */
  void read(long source, int[] to, int count) {
    int bytes = count * Integer.BYTES;
    int at = staging.reserve(bytes);
    staging.copyFrom(stream, source, at, bytes);
    device.synchronize(stream);
    staging.getInts(at, to, count);
    staging.reset();
  }

  private void requireGranted(int operation) {
    for (int i = 0; i < counts[operation]; i++) {
      int at = entries[operation] + i * EXTEND_BYTES;
      if (PoolRecords.extendAnswer(staging.bytes(), at) != 0) {
        throw disagreement(Kind.EXTEND, i, PoolRefusal.NONE);
      }
    }
  }

  private static FatalDeviceException disagreement(Kind kind, int entry, int error) {
    return new FatalDeviceException(
        "the pool on the device and its ledger on the host disagree: operation "
            + kind
            + ", entry "
            + entry
            + ", error "
            + error,
        null);
  }

  @Override
  public void close() {
    ReleaseSteps.all(List.of(staging::close, () -> device.freePinned(resultsAddress)));
  }
}
