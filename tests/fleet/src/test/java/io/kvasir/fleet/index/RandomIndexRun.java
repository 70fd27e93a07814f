package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A random history of many ranks, applied to an index and to the naive one, compared throughout.
 */
final class RandomIndexRun {

  private static final int TRAIL = 10;
  private static final int MAX_NAMED = 400;

  /** A block stored on a rank, under a handle. It may have been removed since. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Named(long handle, long[] prompt, int depth) {}

  private final PrefixIndex subject;
  private final NaiveIndex oracle;
  private final HashFormat format;

  /** How sequence hashes are made. */
  private final HashFormat chain;

  private final RandomChains.Handles handles;
  private final long seed;
  private final Random random;
  private final RandomChains chains;
  private final List<RankId> ranks = new ArrayList<>();
  private final Map<RankId, List<Named>> named = new TreeMap<>();
  private final ArrayDeque<String> trail = new ArrayDeque<>();

  RandomIndexRun(PrefixIndex subject, HashFormat format, RandomChains.Handles handles, long seed) {
    this.subject = subject;
    this.oracle = new NaiveIndex(format);
    this.format = format;
    this.chain = format == HashFormat.TRTLLM_V1 ? HashFormat.KVASIR : format;
    this.handles = handles;
    this.seed = seed;
    this.random = new Random(seed);
    this.chains = new RandomChains(random, 1 + random.nextInt(6), 1 + random.nextInt(40));
    int count = new int[] {3, 40, 70, 240}[random.nextInt(4)];
    for (int i = 0; i < count; i++) {
      ranks.add(new RankId(random.nextInt(8) == 0 ? -1 - i / 2 : i / 2, i % 2));
      named.put(ranks.get(i), new ArrayList<>());
    }
  }

  /** Runs the history; an error reports the seed and the last operations. */
  void run(int operations) {
    int operation = 0;
    try {
      for (; operation < operations; operation++) {
        change();
        if (random.nextInt(4) == 0) {
          compareMatches();
          compareHandles(rank());
        }
        if (random.nextInt(200) == 0) {
          compareStats();
        }
      }
      finish();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "-Dkvasir.test.seed=%d, %s, handles %s, %d ranks, operation %d: %s%nlast:%n%s"
              .formatted(
                  seed,
                  format,
                  handles,
                  ranks.size(),
                  operation,
                  e.getMessage(),
                  String.join("\n", trail)),
          e);
    }
  }

  private void change() {
    RankId rank = rank();
    List<Named> known = named.get(rank);
    int choice = random.nextInt(1000);
    if (known.size() > MAX_NAMED) {
      choice = 600 + random.nextInt(400);
    }
    if (choice < 30 && !known.isEmpty()) {
      alias(rank, known);
    } else if (choice < 600 || (known.isEmpty() && random.nextInt(8) != 0)) {
      store(rank, known);
    } else if (choice < 950) {
      remove(rank, known);
    } else if (choice < 965) {
      apply(rank, new BlockEvent.Cleared());
      known.clear();
    } else if (choice < 980) {
      log(rank + " goes");
      subject.removeRank(rank);
      oracle.removeRank(rank);
      known.clear();
    } else {
      boolean visible = random.nextInt(3) != 0;
      log(rank + " visible: " + visible);
      subject.setVisible(rank, visible);
      oracle.setVisible(rank, visible);
    }
  }

  /** Low ranks more often, so that some ranks hold much and others little. */
  private RankId rank() {
    int bound = 1 + random.nextInt(ranks.size());
    return ranks.get(random.nextInt(bound));
  }

  private void store(RankId rank, List<Named> known) {
    if (known.isEmpty() || random.nextInt(3) == 0) {
      long[] prompt = chains.next();
      long rootHash = random.nextInt(16) == 0 && chain == HashFormat.KVASIR ? 77 : 0;
      store(rank, known, prompt, 0, 0, rootHash, prompt.length);
      return;
    }
    Named parent = known.get(random.nextInt(known.size()));
    long[] prompt = parent.prompt();
    if (random.nextBoolean()) {
      prompt = Arrays.copyOf(prompt, parent.depth());
      long[] other = chains.next();
      prompt = Arrays.copyOf(prompt, parent.depth() + other.length);
      System.arraycopy(other, 0, prompt, parent.depth(), other.length);
    }
    int room = prompt.length - parent.depth();
    int count = room == 0 || random.nextInt(3) == 0 ? Math.min(room, 1) : random.nextInt(room + 1);
    long handle = random.nextInt(30) == 0 ? random.nextLong() : parent.handle();
    store(rank, known, prompt, parent.depth(), handle, 0, count);
  }

  private void store(
      RankId rank, List<Named> known, long[] prompt, int from, long parent, long root, int count) {
    long[] names = new long[count];
    for (int i = 0; i < count; i++) {
      names[i] = chains.handle(handles, prompt, from + i + 1);
    }
    if (count > 1 && random.nextInt(40) == 0) {
      names[random.nextInt(count)] = names[random.nextInt(count)];
    }
    if (!known.isEmpty() && count > 0 && random.nextInt(20) == 0) {
      names[random.nextInt(count)] = known.get(random.nextInt(known.size())).handle();
    }
    long[] locals = Arrays.copyOfRange(prompt, from, from + count);
    boolean first = from == 0;
    long parentHandle = first ? random.nextInt(3) : parent;
    boolean sequence = format == HashFormat.TRTLLM_V1 || random.nextInt(4) == 0;
    ChangeStatus status =
        apply(
            rank,
            new BlockEvent.Stored(
                null,
                first,
                parentHandle,
                root,
                names,
                sequence ? null : locals,
                sequence ? sequenceHashes(rank, first, first ? root : parentHandle, locals) : null,
                BlockEvent.Repeats.SAME));
    if (status == ChangeStatus.APPLIED) {
      for (int i = 0; i < count; i++) {
        known.add(new Named(names[i], prompt, from + i + 1));
      }
    }
  }

  /**
   * Gives some blocks further handles; some of the blocks, and some of the handles, may be known.
   */
  private void alias(RankId rank, List<Named> known) {
    long[] of = new long[random.nextInt(6)];
    long[] names = new long[of.length];
    List<Named> more = new ArrayList<>();
    for (int i = 0; i < of.length; i++) {
      Named block = known.get(random.nextInt(known.size()));
      of[i] = random.nextInt(20) == 0 ? random.nextLong() : block.handle();
      names[i] =
          random.nextInt(10) == 0
              ? known.get(random.nextInt(known.size())).handle()
              : block.handle() ^ 0x5DEECE66DL << random.nextInt(3);
      more.add(new Named(names[i], block.prompt(), block.depth()));
    }
    apply(rank, new BlockEvent.Aliased(names, of, BlockEvent.Repeats.SAME));
    known.addAll(more);
  }

  /** The chain after the block that a handle currently names, or after a root. */
  private long[] sequenceHashes(RankId rank, boolean first, long parent, long[] locals) {
    Long block = first ? Long.valueOf(parent) : oracle.block(rank, parent);
    long hash = block == null ? random.nextLong() : block;
    long[] sequence = new long[locals.length];
    for (int i = 0; i < locals.length; i++) {
      hash = NaiveIndex.chain(chain, first && i == 0, hash, locals[i]);
      sequence[i] = hash;
    }
    return sequence;
  }

  /** A tail, a middle, a head or any of the stored blocks; some of them may be unknown. */
  private void remove(RankId rank, List<Named> known) {
    int size = known.size();
    int count = size == 0 ? 0 : 1 + random.nextInt(Math.min(size, 12));
    int from =
        switch (random.nextInt(3)) {
          case 0 -> size - count;
          case 1 -> 0;
          default -> random.nextInt(size - count + 1);
        };
    List<Named> gone = known.subList(from, from + count);
    long[] names = gone.stream().mapToLong(Named::handle).toArray();
    if (random.nextInt(10) == 0) {
      names = Arrays.copyOf(names, count + 1);
      names[random.nextInt(count + 1)] = random.nextLong();
    }
    if (random.nextBoolean()) {
      for (int i = 0; i < names.length / 2; i++) {
        long name = names[i];
        names[i] = names[names.length - 1 - i];
        names[names.length - 1 - i] = name;
      }
    }
    if (random.nextInt(8) != 0) {
      gone.clear();
    }
    apply(rank, BlockEvent.Removed.of(names));
  }

  private ChangeStatus apply(RankId rank, BlockEvent event) {
    log(rank + " " + text(event));
    ChangeStatus expected = oracle.apply(rank, event);
    assertThat(subject.apply(rank, event)).isEqualTo(expected);
    return expected;
  }

  private void compareHandles(RankId rank) {
    List<Named> known = named.get(rank);
    if (subject instanceof NativePrefixIndex index && !known.isEmpty()) {
      long handle = known.get(random.nextInt(known.size())).handle();
      assertThat(index.sequenceHash(rank, handle))
          .as("block of %d", handle)
          .isEqualTo(oracle.block(rank, handle));
    }
  }

  private void compareMatches() {
    List<Named> known = named.get(rank());
    long[] prompt =
        known.isEmpty() ? chains.next() : known.get(random.nextInt(known.size())).prompt();
    compare(chains.similarTo(prompt));
  }

  private void compare(long[] prompt) {
    long[] sequence = NaiveIndex.chain(chain, random.nextInt(16) == 0 ? 77 : 0, prompt);
    assertThat(IndexScenario.match(subject, sequence))
        .as("match of %s", Arrays.toString(prompt))
        .isEqualTo(IndexScenario.match(oracle, sequence));
  }

  private void compareStats() {
    IndexStats found = subject.stats();
    IndexStats expected = oracle.stats();
    assertThat(found.workers()).as("workers").isEqualTo(expected.workers());
    assertThat(found.ranks()).as("ranks").isEqualTo(expected.ranks());
    assertThat(found.memberships()).as("memberships").isEqualTo(expected.memberships());
    assertThat(found.distinctBlocks()).as("blocks").isEqualTo(expected.distinctBlocks());
  }

  /** Finally removes every rank and checks that nothing remains. */
  private void finish() {
    for (RankId rank : ranks) {
      subject.setVisible(rank, true);
      oracle.setVisible(rank, true);
    }
    named.values().stream().flatMap(List::stream).limit(500).forEach(each -> compare(each.prompt));
    compareStats();
    for (RankId rank : ranks) {
      subject.removeRank(rank);
      oracle.removeRank(rank);
    }
    compareStats();
  }

  private void log(String operation) {
    trail.addLast(operation);
    if (trail.size() > TRAIL) {
      trail.removeFirst();
    }
  }

  private static String text(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      return "stores "
          + Arrays.toString(stored.handles())
          + (stored.localHashes() == null
              ? " as " + Arrays.toString(stored.sequenceHashes())
              : " of " + Arrays.toString(stored.localHashes()))
          + (stored.root() ? " as root " + stored.rootHash() : " after " + stored.parentHandle());
    }
    if (event instanceof BlockEvent.Aliased aliased) {
      return "names " + Arrays.toString(aliased.of()) + " " + Arrays.toString(aliased.handles());
    }
    return event instanceof BlockEvent.Removed removed
        ? "removes " + Arrays.toString(removed.handles())
        : "clears";
  }
}
