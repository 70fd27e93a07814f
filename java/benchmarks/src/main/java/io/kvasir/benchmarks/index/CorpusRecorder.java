package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** Keeps queries and changes in the order in which they come. Not thread-safe. */
final class CorpusRecorder {

  private final int workers;
  private final BitSet isQuery = new BitSet();
  private final List<long[]> queries = new ArrayList<>();
  private final LongArrayList queryAtNs = new LongArrayList();
  private final List<BlockEvent> changes = new ArrayList<>();
  private final IntArrayList changeWorker = new IntArrayList();
  private final LongArrayList changeAtNs = new LongArrayList();
  private long queryBlocks;
  private long storedBlocks;
  private long removedBlocks;

  CorpusRecorder(int workers) {
    this.workers = workers;
  }

  void query(long atNs, long[] localHashes) {
    long[] sequence = new long[localHashes.length];
    SequenceChain.chain(SequenceChain.ROOT, localHashes, localHashes.length, sequence);
    isQuery.set(queries.size() + changes.size());
    queries.add(sequence);
    queryAtNs.add(atNs);
    queryBlocks += sequence.length;
  }

  /** The blocks of a prompt from {@code from} on were stored. */
  void stored(int worker, long atNs, int from, long[] handles, long[] localHashes) {
    long[] newHandles = Arrays.copyOfRange(handles, from, handles.length);
    long[] newHashes = Arrays.copyOfRange(localHashes, from, handles.length);
    change(
        worker,
        atNs,
        from == 0
            ? BlockEvent.Stored.root(newHandles, newHashes)
            : BlockEvent.Stored.after(handles[from - 1], newHandles, newHashes));
    storedBlocks += newHandles.length;
  }

  void removed(int worker, long atNs, long[] handles) {
    change(worker, atNs, BlockEvent.Removed.of(handles));
    removedBlocks += handles.length;
  }

  private void change(int worker, long atNs, BlockEvent event) {
    changes.add(event);
    changeWorker.add(worker);
    changeAtNs.add(atNs);
  }

  BitSet isQuery() {
    return isQuery;
  }

  long[][] queries() {
    return queries.toArray(new long[0][]);
  }

  long[] queryAtNs() {
    return queryAtNs.toLongArray();
  }

  BlockEvent[] changes() {
    return changes.toArray(new BlockEvent[0]);
  }

  int[] changeWorker() {
    return changeWorker.toIntArray();
  }

  long[] changeAtNs() {
    return changeAtNs.toLongArray();
  }

  CorpusCounts counts() {
    return new CorpusCounts(
        workers, queries.size(), changes.size(), queryBlocks, storedBlocks, removedBlocks);
  }
}
