package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** One random history of calls, on a router and on its oracle. */
final class RandomWorkerRun {

  private static final int WORKER_NAMES = 5;
  private static final int STEPS = 60;

  private final SplittableRandom random;
  private final NamedFleet fleet;
  private final WorkerOracle oracle;
  private final String description;
  private final List<int[]> prompts = new ArrayList<>();
  private final List<Placement> open = new ArrayList<>();
  private final List<WorkerOracle.Answer> openAnswers = new ArrayList<>();

  RandomWorkerRun(long seed, WorkerRouter<?> router, WorkerOracle oracle) {
    this.random = new SplittableRandom(seed);
    this.fleet = new NamedFleet(router);
    this.oracle = oracle;
    this.description = router.name() + ", -Dkvasir.test.seed=" + seed;
  }

  /** Runs the history; returns the number of choices compared. */
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
        String worker = randomWorker();
        assertThat(fleet.add(worker)).isEqualTo(oracle.add(worker));
      } else if (kind == 18) {
        String worker = randomWorker();
        assertThat(fleet.remove(worker)).isEqualTo(oracle.remove(worker));
      } else {
        tellEvents();
      }
      for (int i = 0; i < WORKER_NAMES; i++) {
        String worker = "s" + i;
        assertThat(fleet.load(worker))
            .as("%s, step %d, load of %s", description, step, worker)
            .isEqualTo(oracle.load(worker));
      }
    }
    return choices;
  }

  private void choose(int step) {
    int[] prompt = randomPrompt();
    String id = random.nextInt(3) == 0 ? "c" + random.nextInt(6) : null;
    Set<String> excluded = new HashSet<>();
    for (int i = random.nextInt(6) - 3; i > 0; i--) {
      excluded.add(randomWorker());
    }
    boolean chat = fleet.router() instanceof KvCacheAwareFleetRouter && random.nextInt(4) == 0;
    Prompt sent =
        chat
            ? new Prompt.Chat(List.of(new Prompt.Message("user", "b" + random.nextInt(4))))
            : Prompt.of(prompt);
    FleetRequest request =
        fleet.build(
            FleetRequest.builder(step, sent)
                .conversationId(id)
                .filter(
                    random.nextBoolean()
                        ? fleet.without(excluded.toArray(new String[0]))
                        : fleet.withoutRanksOf(excluded)));
    String at = description + ", step " + step;
    WorkerOracle.Answer expected = oracle.next(request, excluded);
    RouteOutcome outcome = fleet.router().route(request);
    if (expected == null) {
      assertThat(outcome)
          .as(at)
          .isInstanceOfSatisfying(
              RouteOutcome.Refused.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.NO_ENDPOINT));
      return;
    }
    Placement choice = NamedFleet.placement(outcome);
    assertThat(
            List.of(
                fleet.name(choice.rank()),
                choice.reason(),
                choice.firstTurn(),
                fleet.matches(choice),
                choice.matchedTokens()))
        .as(at)
        .isEqualTo(
            List.of(
                expected.worker(),
                expected.reason(),
                expected.firstTurn(),
                expected.matches(),
                expected.matches().getOrDefault(expected.worker(), 0L)));
    open.add(choice);
    openAnswers.add(expected);
  }

  private void finish() {
    if (open.isEmpty()) {
      return;
    }
    int index = random.nextInt(open.size());
    boolean success = random.nextInt(5) > 0;
    Placement choice = open.get(index);
    fleet.finish(choice, success);
    if (random.nextInt(10) > 0) {
      oracle.finish(openAnswers.remove(index), success);
      open.remove(index);
    } else {
      oracle.finish(openAnswers.get(index), success);
      fleet.finish(choice, success); // a second time, which must have no effect
      openAnswers.remove(index);
      open.remove(index);
    }
  }

  private void tellEvents() {
    String worker = randomWorker();
    int[] prompt = randomPrompt();
    boolean removed = random.nextBoolean();
    if (fleet.router() instanceof KvCacheAwareFleetRouter && oracle.workers.contains(worker)) {
      long[] keys = oracle.tell(worker, prompt, removed);
      fleet.tell(
          worker, removed ? BlockEvent.Removed.of(keys) : BlockEvent.Stored.named(null, keys));
    }
  }

  /** Often an earlier prompt, with its end changed or extended. */
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

  private String randomWorker() {
    return "s" + random.nextInt(WORKER_NAMES);
  }
}
