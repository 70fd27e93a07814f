package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One random history of calls, on a router and on its oracle. */
final class RandomServeRun {

  private static final int SERVER_NAMES = 5;
  private static final int STEPS = 60;

  private final SplittableRandom random;
  private final ServeRouter router;
  private final ServeOracle oracle;
  private final String description;
  private final List<int[]> prompts = new ArrayList<>();
  private final List<ServeChoice> open = new ArrayList<>();
  private final List<ServeOracle.Answer> openAnswers = new ArrayList<>();

  RandomServeRun(long seed, ServeRouter router, ServeOracle oracle) {
    this.random = new SplittableRandom(seed);
    this.router = router;
    this.oracle = oracle;
    this.description = router.name() + ", -Dkvasir.test.seed=" + seed;
  }

  /** Runs; the number of choices compared. */
  int run() {
    int choices = 0;
    for (int step = 0; step < STEPS; step++) {
      int kind = random.nextInt(20);
      if (kind < 10) {
        choose(step);
        choices++;
      } else if (kind < 17) {
        finish();
      } else if (kind == 17) {
        String server = randomServer();
        assertThat(router.addServer(server)).isEqualTo(oracle.add(server));
      } else if (kind == 18) {
        String server = randomServer();
        assertThat(router.removeServer(server)).isEqualTo(oracle.remove(server));
      } else {
        tellEvents();
      }
      for (int i = 0; i < SERVER_NAMES; i++) {
        String server = "s" + i;
        assertThat(router.load(server))
            .as("%s, step %d, load of %s", description, step, server)
            .isEqualTo(oracle.load(server));
      }
    }
    return choices;
  }

  private void choose(int step) {
    int[] prompt = randomPrompt();
    String id = random.nextInt(3) == 0 ? "c" + random.nextInt(6) : null;
    String excluded = random.nextInt(3) == 0 ? randomServer() : null;
    boolean chat = router instanceof KvCacheAwareRouter && random.nextInt(4) == 0;
    Prompt sent =
        chat
            ? new Prompt.Chat(List.of(new Prompt.Message("user", "b" + random.nextInt(4))))
            : Prompt.of(prompt);
    ServeRequest request = ServeRequest.of(sent).withConversation(id);
    String at = description + ", step " + step;
    ServeOracle.Answer expected = oracle.next(request, excluded);
    if (expected == null) {
      assertThatExceptionOfType(NoServerException.class)
          .as(at)
          .isThrownBy(() -> router.next(request, excluded));
      return;
    }
    ServeChoice choice = router.next(request, excluded);
    Explanation explanation = choice.explanation();
    assertThat(
            List.of(
                choice.server(),
                explanation.reason(),
                explanation.firstTurn(),
                explanation.matches(),
                explanation.matchLength()))
        .as(at)
        .isEqualTo(
            List.of(
                expected.server(),
                expected.reason(),
                expected.firstTurn(),
                expected.matches(),
                expected.matches().getOrDefault(expected.server(), 0L)));
    open.add(choice);
    openAnswers.add(expected);
  }

  private void finish() {
    if (open.isEmpty()) {
      return;
    }
    int index = random.nextInt(open.size());
    boolean success = random.nextInt(5) > 0;
    ServeChoice choice = open.get(index);
    router.finish(choice, success);
    if (random.nextInt(10) > 0) {
      oracle.finish(openAnswers.remove(index), success);
      open.remove(index);
    } else {
      oracle.finish(openAnswers.get(index), success);
      router.finish(choice, success); // a second time, which must do nothing
      openAnswers.remove(index);
      open.remove(index);
    }
  }

  private void tellEvents() {
    String server = randomServer();
    int[] prompt = randomPrompt();
    boolean removed = random.nextBoolean();
    if (router instanceof KvCacheAwareRouter aware && router.servers().contains(server)) {
      long[] keys = oracle.tell(server, prompt, removed);
      aware.onEvents(
          server,
          List.of(removed ? BlockEvent.Removed.of(keys) : BlockEvent.Stored.named(null, keys)));
    }
  }

  /** Often an earlier prompt, changed or grown at its end. */
  private int[] randomPrompt() {
    int[] base =
        prompts.isEmpty() || random.nextInt(5) == 0
            ? new int[0]
            : prompts.get(random.nextInt(prompts.size()));
    int kept = random.nextInt(3) == 0 ? random.nextInt(base.length + 1) : base.length;
    int[] prompt = java.util.Arrays.copyOf(base, kept + random.nextInt(9));
    for (int i = kept; i < prompt.length; i++) {
      prompt[i] = random.nextInt(3);
    }
    prompts.add(prompt);
    return prompt;
  }

  private String randomServer() {
    return "s" + random.nextInt(SERVER_NAMES);
  }
}
