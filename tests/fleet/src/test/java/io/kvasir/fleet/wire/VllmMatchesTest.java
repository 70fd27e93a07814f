package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.CopyCounts;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.wire.VllmCache.Group;
import io.kvasir.fleet.wire.VllmCache.Kind;
import io.kvasir.fleet.wire.VllmCache.Options;
import io.kvasir.fleet.wire.VllmCache.Report;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.LongRuns;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an index knows from vLLM's events is what vLLM finds: no block less, and none more. */
class VllmMatchesTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 34);
  private static final int SIZE = 4;
  private static final int PROBES = LongRuns.cases(2_000, 10_000);
  private static final int PROBES_PER_STEP = 4;
  private static final RankId RANK = new RankId(7, 3);
  private static final int MAIN = -1;
  private static final Group FULL = new Group(Kind.FULL, 0);
  private static final Group MAMBA = new Group(Kind.MAMBA, 0);

  private static final Options PLAIN = new Options(false, Report.NEW, 64, -1);
  private static final Options CHUNKED = new Options(false, Report.NEW, 10, -1);
  private static final Options EAGLE = new Options(true, Report.NEW, 24, -1);
  private static final Options ANNOUNCING = new Options(false, Report.FULL, 40, -1);
  private static final Options MASKED = new Options(false, Report.NEW, 32, 0);

  /** A model on an engine. */
  record SetUp(int blocks, List<Group> groups, Options options) {}

  private static Group window(int tokens) {
    return new Group(Kind.WINDOW, tokens);
  }

  static Stream<SetUp> setUps() {
    return Stream.of(
        new SetUp(60, List.of(FULL), PLAIN),
        new SetUp(30, List.of(FULL), EAGLE),
        new SetUp(60, List.of(FULL, FULL), CHUNKED),
        new SetUp(40, List.of(window(9)), PLAIN),
        new SetUp(80, List.of(FULL, window(6)), CHUNKED),
        new SetUp(80, List.of(FULL, window(17)), EAGLE),
        new SetUp(100, List.of(window(6), window(6), FULL), PLAIN),
        new SetUp(100, List.of(FULL, window(5), window(14)), MASKED),
        new SetUp(70, List.of(FULL, MAMBA), PLAIN),
        new SetUp(80, List.of(MAMBA, FULL, MAMBA, MAMBA), EAGLE),
        new SetUp(90, List.of(FULL, window(10), MAMBA), MASKED),
        new SetUp(40, List.of(window(10), MAMBA), CHUNKED));
  }

  @ParameterizedTest
  @MethodSource("setUps")
  void matchesAreWhatTheEngineFinds(SetUp setUp) {
    assertThat(probe(setUp))
        .as("-Dkvasir.test.seed=%d, %s: less and more, of %d", SEED, setUp, PROBES)
        .containsExactly(0, 0);
  }

  /** Probes where the index knows less than the engine finds, and more. */
  private static List<Integer> probe(SetUp setUp) {
    Random random = new Random(SEED);
    VllmCache cache = new VllmCache(SIZE, setUp.blocks(), setUp.groups(), setUp.options(), random);
    VllmTraffic traffic = new VllmTraffic(random, SIZE, cache.maxTokens());
    WireDecoder decoder = new WireDecoder();
    RankEvents events = new RankEvents(SIZE, null);
    Set<Integer> groups = new HashSet<>();
    int matched = 0;
    int less = 0;
    int more = 0;
    try (CopyCounts index =
        new CopyCounts(new NativePrefixIndex(HashFormat.KVASIR, SIZE, 64 << 20))) {
      for (int probe = 0; probe < PROBES; ) {
        traffic.submit(cache);
        List<Object> step = random.nextInt(400) == 0 ? cache.reset() : cache.step();
        byte[] payload = Packed.batch(step.toArray());
        decoder.decode(payload, 0, payload.length, events);
        for (BlockEvent event : events.take()) {
          index.apply(RANK, event);
          if (event instanceof BlockEvent.GroupStored stored) {
            groups.add(stored.group().index());
          } else if (event instanceof BlockEvent.Stored) {
            groups.add(MAIN);
          }
        }
        boolean known = groups.size() == setUp.groups().size(); // each by its first event
        for (int i = 0; known && i < PROBES_PER_STEP; i++, probe++) {
          int[] question = traffic.question();
          int expected = found(cache, setUp, question);
          int match = reused(setUp, match(index, question), question.length);
          matched += expected > 0 ? 1 : 0;
          less += match < expected ? 1 : 0;
          more += match > expected ? 1 : 0;
        }
      }
    }
    assertThat(matched).as("probes with a match").isGreaterThan(PROBES / 20);
    assertThat(events.upperBound()).isFalse();
    return List.of(less, more);
  }

  /**
   * A store does not say whether its one block was computed again or is announced. Announcements of
   * hybrid models name blocks that their groups do not hold.
   */
  @Test
  void announcementsOfHitsAreSeldomTakenForCopies() {
    SetUp setUp = new SetUp(60, List.of(FULL), ANNOUNCING);
    List<Integer> wrong = probe(setUp);
    assertThat(wrong.get(0) + wrong.get(1))
        .as("-Dkvasir.test.seed=%d, %s: %s less and more, of %d", SEED, setUp, wrong, PROBES)
        .isLessThan(PROBES / 10);
  }

  private static int match(CopyCounts index, int[] tokens) {
    long[] prompt =
        NativeBlockHasher.of(HashFormat.KVASIR, SIZE).hash(tokens, CacheScope.NONE).sequence();
    RankMatches matches = new RankMatches();
    index.match(prompt, prompt.length, matches);
    return matches.blocks(RANK);
  }

  /** Of full attention, what the routers learn of the block that speculation drops. */
  private static int reused(SetUp setUp, int match, int tokens) {
    return isSimple(setUp) && setUp.options().eagle()
        ? new HitCorrection(1, 1, 1, 1).blocks(match, tokens, SIZE)
        : match;
  }

  private static boolean isSimple(SetUp setUp) {
    return setUp.groups().equals(List.of(FULL));
  }

  /** With speculation and several groups it is left open which of them lacks the dropped block. */
  private static int found(VllmCache cache, SetUp setUp, int[] tokens) {
    if (!setUp.options().eagle()) {
      return cache.lookUp(tokens);
    }
    if (isSimple(setUp)) {
      return cache.lookUpOfRequest(tokens);
    }
    long[] hashes = cache.hashes(tokens);
    int end = hashes.length;
    while (end > 0 && !usable(cache, setUp.groups(), hashes, end)) {
      end--;
    }
    return end;
  }

  private static boolean usable(VllmCache cache, List<Group> groups, long[] hashes, int end) {
    return IntStream.range(0, groups.size())
        .allMatch(
            group ->
                IntStream.range(first(groups.get(group), end), end)
                    .allMatch(i -> cache.holds(group, hashes[i])));
  }

  private static int first(Group group, int end) {
    return switch (group.kind()) {
      case FULL -> 0;
      case WINDOW -> Math.max(0, end - (int) Math.ceil((group.window() - 1.0) / SIZE));
      case MAMBA -> end - 1;
    };
  }
}
