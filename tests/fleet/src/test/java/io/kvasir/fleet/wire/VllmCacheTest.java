package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.wire.VllmCache.Group;
import io.kvasir.fleet.wire.VllmCache.Kind;
import io.kvasir.fleet.wire.VllmCache.Options;
import io.kvasir.fleet.wire.VllmCache.Report;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cache that other tests take for vLLM's, against the definition of a usable prefix. */
class VllmCacheTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 20);
  private static final int SIZE = 4;
  private static final int STEPS = 1_000;
  private static final Group FULL = new Group(Kind.FULL, 0);
  private static final Group MAMBA = new Group(Kind.MAMBA, 0);

  private static final List<Options> OPTIONS =
      List.of(
          new Options(false, Report.NEW, 64, -1),
          new Options(false, Report.FULL, 12, -1),
          new Options(true, Report.NEW, 24, -1),
          new Options(true, Report.FULL_SPARSE, 6, -1),
          new Options(false, Report.NEW, 32, 3),
          new Options(true, Report.NEW, 32, 0));

  /** A model: blocks of the pool, and groups. */
  record Model(int blocks, List<Group> groups) {}

  private static Group window(int tokens) {
    return new Group(Kind.WINDOW, tokens);
  }

  static Stream<Model> models() {
    return Stream.of(
        new Model(60, List.of(FULL)),
        new Model(40, List.of(window(9))),
        new Model(80, List.of(FULL, window(6))),
        new Model(100, List.of(window(6), window(6), FULL)),
        new Model(100, List.of(FULL, window(5), window(14))),
        new Model(70, List.of(FULL, MAMBA)),
        new Model(80, List.of(MAMBA, FULL, MAMBA, MAMBA)),
        new Model(90, List.of(FULL, window(10), MAMBA)),
        new Model(40, List.of(window(10), MAMBA)));
  }

  @ParameterizedTest
  @MethodSource("models")
  void theLookUpFindsTheLongestUsablePrefix(Model model) {
    int copies = 0;
    int evictions = 0;
    int preemptions = 0;
    for (Options options : OPTIONS) {
      Random random = new Random(SEED);
      VllmCache cache = cache(model, options, random);
      VllmTraffic traffic = new VllmTraffic(random, SIZE, cache.maxTokens());
      for (int step = 0; step < STEPS; step++) {
        traffic.submit(cache);
        cache.step();
        cache.check();
        int[] question = traffic.question();
        assertThat(cache.lookUp(question))
            .as("-Dkvasir.test.seed=%d, %s, step %d", SEED, options, step)
            .isGreaterThanOrEqualTo(longest(cache, model, options, question, true))
            .isLessThanOrEqualTo(longest(cache, model, options, question, !loose(model, options)));
      }
      copies += cache.copies();
      evictions += cache.evictions();
      preemptions += cache.preemptions();
    }
    assertThat(copies).as("copies").isPositive();
    assertThat(evictions).as("evictions").isPositive();
    assertThat(preemptions).as("preemptions").isPositive();
  }

  @ParameterizedTest
  @MethodSource("models")
  void storesLessRemovalsAreWhatIsHeld(Model model) {
    for (Options options : OPTIONS) {
      if (options.report() != Report.NEW) {
        continue;
      }
      Random random = new Random(SEED);
      VllmCache cache = cache(model, options, random);
      VllmTraffic traffic = new VllmTraffic(random, SIZE, cache.maxTokens());
      Map<List<Object>, Integer> copies = new HashMap<>();
      for (int step = 0; step < STEPS; step++) {
        traffic.submit(cache);
        for (Object event : random.nextInt(300) == 0 ? cache.reset() : cache.step()) {
          apply(copies, (Map<?, ?>) event);
        }
        for (long hash : cache.hashes(traffic.question())) {
          for (int group = 0; group < model.groups().size(); group++) {
            assertThat(copies.containsKey(List.of(group, VllmRequest.published(hash))))
                .as("-Dkvasir.test.seed=%d, %s, step %d", SEED, options, step)
                .isEqualTo(cache.holds(group, hash));
          }
        }
      }
    }
  }

  private static void apply(Map<List<Object>, Integer> copies, Map<?, ?> event) {
    if (event.get("type") instanceof String tag && tag.equals("AllBlocksCleared")) {
      copies.clear();
      return;
    }
    boolean stored = event.containsKey("token_ids");
    for (Object hash : (List<?>) field(event, "block_hashes")) {
      List<Object> key = List.of(field(event, "group_idx"), hash);
      assertThat(stored || copies.containsKey(key)).as("a block is stored first").isTrue();
      copies.merge(key, stored ? 1 : -1, Integer::sum);
      copies.remove(key, 0);
    }
  }

  private static Object field(Map<?, ?> event, String name) {
    Object value = event.get(name);
    if (value == null) {
      throw new AssertionError(name + " in " + event);
    }
    return value;
  }

  @Test
  void aMaskedStoreHasFewerHashesThanPositions() {
    VllmCache cache = fresh(List.of(FULL, MAMBA), false, Report.NEW);
    cache.submit(IntStream.range(0, 3 * SIZE + 1).toArray(), 1);
    List<Object> events = cache.step();
    assertThat(events).hasSize(2);
    assertThat(positions(events.get(1))).isEqualTo(3);
    assertThat(hashes(events.get(1)))
        .as("the state after the last whole block")
        .isEqualTo(hashes(events.get(0)).subList(2, 3));
    assertThat(cache.step()).as("the last token of the prompt").isEmpty();
  }

  @Test
  void aStoreMayHaveNoHash() {
    VllmCache cache = fresh(List.of(FULL, MAMBA), true, Report.NEW);
    int[] prompt = IntStream.range(0, 3 * SIZE + 1).toArray();
    cache.submit(prompt, 1);
    assertThat(hashes(cache.step().get(1))).hasSize(1);
    Object second = cache.step().get(1);
    assertThat(hashes(second)).isEmpty();
    assertThat(positions(second)).isEqualTo(1);
  }

  @Test
  void aFullReportNamesPositionsThatAreNotHeld() {
    for (Report report : Report.values()) {
      VllmCache cache = fresh(List.of(FULL, MAMBA), false, report);
      int[] prompt = IntStream.range(0, 3 * SIZE + 1).toArray();
      for (int i = 0; i < 2; i++) {
        cache.submit(prompt, 1);
        List<Object> events = cache.step();
        cache.step();
        if (i == 1) {
          assertThat(events.stream().map(each -> hashes(each).size()))
              .isEqualTo(
                  switch (report) {
                    case NEW -> List.of();
                    case FULL -> List.of(3, 3);
                    case FULL_SPARSE -> List.of(3, 1);
                  });
        }
      }
    }
  }

  @Test
  void theLastBlockOfAPromptOfWholeBlocksIsCopied() {
    VllmCache cache = fresh(List.of(FULL), false, Report.NEW);
    int[] prompt = IntStream.range(0, 2 * SIZE).toArray();
    cache.submit(prompt, 1);
    cache.submit(prompt, 1);
    List<Object> events = cache.step();
    assertThat(hashes(events.get(1))).isEqualTo(hashes(events.get(0)).subList(1, 2));
    assertThat(cache.copies()).isEqualTo(1);
    assertThat(cache.lookUp(prompt)).isEqualTo(2);
    assertThat(cache.lookUpOfRequest(prompt)).isEqualTo(1);
  }

  private static VllmCache fresh(List<Group> groups, boolean eagle, Report report) {
    return cache(new Model(40, groups), new Options(eagle, report, 64, -1), new Random(SEED));
  }

  private static VllmCache cache(Model model, Options options, Random random) {
    return new VllmCache(SIZE, model.blocks(), model.groups(), options, random);
  }

  private static List<?> hashes(Object event) {
    return (List<?>) field((Map<?, ?>) event, "block_hashes");
  }

  private static int positions(Object event) {
    return ((List<?>) field((Map<?, ?>) event, "token_ids")).size() / SIZE;
  }

  /**
   * Whether a window may lack the block that EAGLE drops. vLLM looks for it once in each kind, at a
   * length that later kinds may shorten.
   */
  private static boolean loose(Model model, Options options) {
    boolean full = model.groups().contains(FULL);
    long kinds = model.groups().stream().distinct().count();
    return options.eagle() && kinds > (full ? 2 : 1);
  }

  /**
   * The longest usable prefix by its definition.
   *
   * @param peeks whether windows must hold the block that EAGLE drops
   */
  private static int longest(
      VllmCache cache, Model model, Options options, int[] tokens, boolean peeks) {
    long[] hashes = cache.hashes(tokens);
    for (int end = hashes.length; end > 0; end--) {
      boolean usable = true;
      for (int group = 0; group < model.groups().size(); group++) {
        Kind kind = model.groups().get(group).kind();
        boolean drops = options.eagle() && (kind == Kind.FULL || (kind == Kind.WINDOW && peeks));
        usable &= usable(cache, group, model.groups().get(group), hashes, end, drops);
      }
      if (usable) {
        return end;
      }
    }
    return 0;
  }

  private static boolean usable(
      VllmCache cache, int index, Group group, long[] hashes, int length, boolean drops) {
    int end = drops ? length + 1 : length;
    int first =
        switch (group.kind()) {
          case FULL -> 0;
          case WINDOW -> Math.max(0, length - (int) Math.ceil((group.window() - 1.0) / SIZE));
          case MAMBA -> length - 1;
        };
    return end <= hashes.length
        && IntStream.range(first, end).allMatch(i -> cache.holds(index, hashes[i]));
  }
}
