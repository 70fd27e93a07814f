package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import java.io.IOException;
import java.nio.file.Path;

/** Loads and verifies corpus files. Stateless. */
public final class CorpusReader {

  private CorpusReader() {}

  /**
   * Reads the description of a corpus without loading it.
   *
   * @param file the file
   * @return its description
   * @throws InvalidCorpusException if it is not a corpus, or its header is damaged
   * @throws IOException if it cannot be read
   */
  public static String describe(Path file) throws IOException {
    try (CorpusWords words = new CorpusWords(file)) {
      return words.header().description();
    }
  }

  /**
   * Loads a corpus. O(bytes).
   *
   * @param file the file
   * @return the corpus
   * @throws InvalidCorpusException if it is not a corpus, is damaged or is truncated
   * @throws IOException if it cannot be read
   */
  public static Corpus read(Path file) throws IOException {
    try (CorpusWords words = new CorpusWords(file)) {
      return new Load(words).corpus();
    }
  }

  /** One load. */
  private static final class Load {
    private final CorpusWords words;
    private final CorpusCounts counts;
    private final boolean[] isQuery;
    private final long[][] queries;
    private final long[] queryAtNs;
    private final BlockEvent[] changes;
    private final int[] changeWorker;
    private final long[] changeAtNs;
    private int query;
    private int change;

    Load(CorpusWords words) throws IOException {
      this.words = words;
      this.counts = words.header().counts();
      words.requireRoom(2L * counts.queries() + 2L * counts.changes());
      this.isQuery = new boolean[Math.addExact(counts.queries(), counts.changes())];
      this.queries = new long[counts.queries()][];
      this.queryAtNs = new long[counts.queries()];
      this.changes = new BlockEvent[counts.changes()];
      this.changeWorker = new int[counts.changes()];
      this.changeAtNs = new long[counts.changes()];
    }

    Corpus corpus() throws IOException {
      for (int operation = 0; operation < isQuery.length; operation++) {
        long word = words.next();
        int kind = (int) (word >>> 56);
        int worker = (int) (word >>> 32) & 0xFFFFFF;
        int count = (int) word;
        if (count < 0 || worker >= counts.workers()) {
          throw words.damaged();
        }
        isQuery[operation] = kind == CorpusHeader.QUERY;
        if (isQuery[operation]) {
          readQuery(count);
        } else {
          readChange(kind, worker, count);
        }
      }
      words.requireEnd();
      return new Corpus(
          words.header(), isQuery, queries, queryAtNs, changes, changeWorker, changeAtNs);
    }

    private void readQuery(int count) throws IOException {
      if (query == queries.length) {
        throw words.damaged();
      }
      queryAtNs[query] = words.next();
      long[] hashes = words.next(count);
      SequenceChain.chain(SequenceChain.ROOT, hashes, count, hashes);
      queries[query++] = hashes;
    }

    private void readChange(int kind, int worker, int count) throws IOException {
      if (change == changes.length) {
        throw words.damaged();
      }
      changeAtNs[change] = words.next();
      changeWorker[change] = worker;
      changes[change++] =
          switch (kind) {
            case CorpusHeader.STORED_ROOT -> stored(true, 0, count);
            case CorpusHeader.STORED_AFTER -> stored(false, words.next(), count);
            case CorpusHeader.REMOVED -> BlockEvent.Removed.of(words.next(count));
            default -> throw words.damaged();
          };
    }

    private BlockEvent stored(boolean root, long parent, int count) throws IOException {
      words.requireRoom(2L * count);
      long[] handles = new long[count];
      long[] locals = new long[count];
      for (int i = 0; i < count; i++) {
        handles[i] = words.next();
        locals[i] = words.next();
      }
      return root
          ? BlockEvent.Stored.root(handles, locals)
          : BlockEvent.Stored.after(parent, handles, locals);
    }
  }
}
