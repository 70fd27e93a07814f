package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.LongArrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The expected contents of the index in a soak: each worker holds some leading blocks of each
 * document. Generates the changes and keeps independent totals. Not thread-safe.
 */
final class SoakModel {

  static final int WORKERS = 64;
  static final int DOCUMENTS = 512;
  static final int DOCUMENT_BLOCKS = 256;
  private static final int WORKER_BLOCKS = 16_384;
  private static final int MAX_BLOCKS = 64;

  private final SplittableRandom random;
  private final RankId[] ids = new RankId[WORKERS];
  private final long[] handleKeys = new long[WORKERS];
  private final long[][] local = new long[DOCUMENTS][DOCUMENT_BLOCKS];
  private final long[][] sequence = new long[DOCUMENTS][DOCUMENT_BLOCKS];
  private final int[][] held = new int[WORKERS][DOCUMENTS];
  private final int[] blocks = new int[WORKERS];
  private long nextWorker;

  SoakModel(long seed) {
    this.random = new SplittableRandom(seed);
    for (int document = 0; document < DOCUMENTS; document++) {
      replaceContent(document);
    }
    for (int worker = 0; worker < WORKERS; worker++) {
      join(worker);
    }
  }

  RankId id(int worker) {
    return ids[worker];
  }

  long[] sequence(int document) {
    return sequence[document];
  }

  /** Leading blocks of a document that a worker holds. */
  int held(int worker, int document) {
    return held[worker][document];
  }

  int randomWorker() {
    return random.nextInt(WORKERS);
  }

  int randomDocument() {
    return random.nextInt(DOCUMENTS);
  }

  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  /** A new worker, with its own handles, replaces one that left. */
  void join(int worker) {
    forget(worker);
    ids[worker] = new RankId(nextWorker++, 0);
    handleKeys[worker] = random.nextLong();
  }

  /** Clears a worker. */
  void forget(int worker) {
    held[worker] = new int[DOCUMENTS];
    blocks[worker] = 0;
  }

  /** Replaces the content of a document that no worker holds. */
  void replaceContent(int document) {
    for (int i = 0; i < DOCUMENT_BLOCKS; i++) {
      local[document][i] = random.nextLong();
    }
    SequenceChain.chain(SequenceChain.ROOT, local[document], DOCUMENT_BLOCKS, sequence[document]);
  }

  /**
   * Computes more blocks of a document after evicting others; null if the worker holds all of it.
   */
  BlockEvent.@Nullable Stored extend(int worker, int document) {
    int from = held[worker][document];
    int count = Math.min(DOCUMENT_BLOCKS - from, 1 + random.nextInt(MAX_BLOCKS));
    if (count == 0) {
      return null;
    }
    long[] handles = handles(worker, document, from, from + count);
    long[] locals = new long[count];
    System.arraycopy(local[document], from, locals, 0, count);
    held[worker][document] += count;
    blocks[worker] += count;
    return from == 0
        ? BlockEvent.Stored.root(handles, locals)
        : BlockEvent.Stored.after(
            SequenceChain.mix(handleKeys[worker], sequence[document][from - 1]), handles, locals);
  }

  /** Whether a worker must evict before it computes more. */
  boolean isFull(int worker) {
    return blocks[worker] > WORKER_BLOCKS - MAX_BLOCKS;
  }

  /** A document of which the worker holds some blocks; the worker must not be empty. */
  int heldDocument(int worker) {
    int document = randomDocument();
    while (held[worker][document] == 0) {
      document = (document + 1) % DOCUMENTS;
    }
    return document;
  }

  /**
   * Removes blocks at the end of a document, deepest first; null if the worker holds none of it.
   */
  BlockEvent.@Nullable Removed trim(int worker, int document, boolean all) {
    int from = held[worker][document];
    int count = all ? from : Math.min(from, 1 + random.nextInt(MAX_BLOCKS));
    if (count == 0) {
      return null;
    }
    long[] handles = handles(worker, document, from - count, from);
    LongArrays.reverse(handles);
    held[worker][document] -= count;
    blocks[worker] -= count;
    return BlockEvent.Removed.of(handles);
  }

  private long[] handles(int worker, int document, int from, int to) {
    long[] handles = new long[to - from];
    for (int i = from; i < to; i++) {
      handles[i - from] = SequenceChain.mix(handleKeys[worker], sequence[document][i]);
    }
    return handles;
  }

  long memberships() {
    long sum = 0;
    for (int worker = 0; worker < WORKERS; worker++) {
      sum += blocks[worker];
    }
    return sum;
  }

  long distinctBlocks() {
    long sum = 0;
    for (int document = 0; document < DOCUMENTS; document++) {
      int longest = 0;
      for (int worker = 0; worker < WORKERS; worker++) {
        longest = Math.max(longest, held[worker][document]);
      }
      sum += longest;
    }
    return sum;
  }
}
