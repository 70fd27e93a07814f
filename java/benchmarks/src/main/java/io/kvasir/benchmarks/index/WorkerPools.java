package io.kvasir.benchmarks.index;

import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A pool for each worker, with events like those of an engine that assigns its own handles. A pool
 * block has one token, the id, because a pool's behaviour depends only on which blocks are equal,
 * not on their number of tokens.
 *
 * <p>Not thread-safe. The memory of all pools is allocated up front, about 100 bytes per block.
 */
final class WorkerPools implements AutoCloseable {

  private static final int EVENTS_PER_BLOCK = 2;

  private final BlockContents contents;
  private final CorpusRecorder recorder;
  private final List<NativeBlockPool> pools = new ArrayList<>();
  private final long[] handleKeys;
  private final LeaseBatch lease = new LeaseBatch();
  private final CommitBatch commit = new CommitBatch();
  private final int[] leases = new int[1];
  private final LongArrayList removed = new LongArrayList();
  private int stored;

  WorkerPools(CorpusShape shape, int longest, BlockContents contents, CorpusRecorder recorder) {
    this.contents = contents;
    this.recorder = recorder;
    this.handleKeys = new long[shape.workers()];
    SplittableRandom random = new SplittableRandom(~shape.seed());
    long shared = random.nextLong();
    PoolShape pool = new PoolShape(shape.poolBlocks(), 1, 1, longest, EVENTS_PER_BLOCK * longest);
    for (int worker = 0; worker < shape.workers(); worker++) {
      handleKeys[worker] = shape.sharedHandles() ? shared : random.nextLong();
      pools.add(NativeBlockPool.create(pool));
    }
  }

  /** Serves a request on a worker and records the events of its pool. */
  void play(int worker, long atNs, int[] ids) {
    if (ids.length == 0) {
      return;
    }
    long[] local = contents.local(ids);
    long[] sequence = new long[ids.length];
    SequenceChain.chain(SequenceChain.ROOT, local, ids.length, sequence);
    NativeBlockPool pool = pools.get(worker);
    lease.clear();
    lease.add(ids, sequence, CacheScope.NONE, ids.length, ids.length, 0);
    pool.lease(lease);
    leases[0] = lease.lease(0);
    int matched = lease.matchedBlocks(0);
    if (matched < ids.length) {
      commit.clear();
      commit.add(leases[0], ids, sequence, matched, ids.length);
      pool.commit(commit);
    }
    pool.release(leases, 1);
    removed.clear();
    stored = 0;
    pool.drainEvents(this::on);
    if (stored != ids.length - matched) {
      throw new IllegalStateException(
          "a pool named " + stored + " blocks of " + (ids.length - matched));
    }
    if (!removed.isEmpty()) {
      recorder.removed(worker, atNs, handles(worker, removed.toLongArray()));
    }
    if (stored > 0) {
      recorder.stored(worker, atNs, matched, handles(worker, sequence), local);
    }
  }

  private void on(long eventId, BlockEvent event) {
    if (event instanceof BlockEvent.Removed gone) {
      removed.add(gone.handles()[0]);
    } else {
      stored++;
    }
  }

  /** Random handles, unique within a worker: a bijection of the blocks' sequence hashes. */
  private long[] handles(int worker, long[] sequence) {
    long[] handles = new long[sequence.length];
    for (int i = 0; i < sequence.length; i++) {
      handles[i] = SequenceChain.mix(handleKeys[worker], sequence[i]);
    }
    return handles;
  }

  @Override
  public void close() {
    pools.forEach(NativeBlockPool::close);
  }
}
