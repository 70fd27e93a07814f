package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.CopyCounts;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an index knows from SGLang's events is what its tree finds, or more if it has windows. */
class SglangMatchesTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 35);
  private static final int PROBES = LongRuns.cases(2_000, 10_000);
  private static final int PROBES_PER_STEP = 4;
  private static final RankId RANK = new RankId(2, 1);

  private final Random random = new Random(SEED);
  private final List<int[]> earlier = new ArrayList<>();

  /** In turn new, and behind a beginning of an earlier one. */
  private int[] prompt() {
    int[] base = earlier.isEmpty() ? new int[0] : earlier.get(random.nextInt(earlier.size()));
    int[] prompt = Arrays.copyOf(base, random.nextInt(base.length + 1) + 1 + random.nextInt(30));
    for (int i = Math.min(base.length, prompt.length); i < prompt.length; i++) {
      prompt[i] = 1 + random.nextInt(2); // few, so that prompts part in the midst of nodes
    }
    earlier.add(prompt);
    if (earlier.size() > 40) {
      earlier.remove(random.nextInt(earlier.size()));
    }
    return prompt.length > 200 ? Arrays.copyOf(prompt, 200) : prompt;
  }

  @ParameterizedTest
  @CsvSource({"1, 60", "4, 30", "4, 90", "16, 12"})
  void fullAttentionIsExact(int size, int capacity) {
    assertThat(probe(size, capacity, 0, 0))
        .as("-Dkvasir.test.seed=%d: less and more, of %d", SEED, PROBES)
        .containsExactly(0, 0);
  }

  @ParameterizedTest
  @CsvSource({"1, 60, 5, 30", "4, 90, 9, 40", "4, 60, 64, 30"})
  void withWindowsMatchesAreUpperBounds(int size, int capacity, int window, int windowCapacity) {
    List<Integer> wrong = probe(size, capacity, window, windowCapacity);
    assertThat(wrong.get(0)).as("-Dkvasir.test.seed=%d: less, of %d", SEED, PROBES).isZero();
    assertThat(wrong.get(1)).as("more, of %d", PROBES).isGreaterThan(PROBES / 100);
  }

  /** Counts the probes that find fewer pages than the tree has, and more. */
  private List<Integer> probe(int size, int capacity, int window, int windowCapacity) {
    SglangTree tree = new SglangTree(size, capacity, window, windowCapacity);
    WireDecoder decoder = new WireDecoder();
    RankEvents events = new RankEvents(size, null);
    int matched = 0;
    int less = 0;
    int more = 0;
    try (CopyCounts index =
        new CopyCounts(new NativePrefixIndex(HashFormat.KVASIR, size, 64 << 20))) {
      for (int probe = 0; probe < PROBES; ) {
        if (random.nextInt(200) == 0) {
          tree.reset();
        } else {
          tree.insert(prompt());
        }
        byte[] payload = Packed.batch(tree.take().toArray());
        decoder.decode(payload, 0, payload.length, events);
        for (BlockEvent event : events.take()) {
          index.apply(RANK, event);
        }
        for (int i = 0; i < PROBES_PER_STEP; i++, probe++) {
          int[] question = prompt();
          int expected = tree.match(question);
          int match = match(index, size, question);
          matched += expected > 0 ? 1 : 0;
          less += match < expected ? 1 : 0;
          more += match > expected ? 1 : 0;
        }
      }
      assertThat(index.copies(RANK)).isZero();
    }
    assertThat(matched).as("probes with a match").isGreaterThan(PROBES / 20);
    for (SkipCause cause : SkipCause.values()) {
      assertThat(events.skips().of(cause)).as("%s", cause).isZero();
    }
    return List.of(less, more);
  }

  private static int match(CopyCounts index, int size, int[] tokens) {
    long[] prompt =
        NativeBlockHasher.of(HashFormat.KVASIR, size).hash(tokens, CacheScope.NONE).sequence();
    RankMatches matches = new RankMatches();
    index.match(prompt, prompt.length, matches);
    return matches.blocks(RANK);
  }
}
