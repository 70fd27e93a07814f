package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.fleet.router.whatif.VirtualFleet;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What {@code --shadow} says that other policies would find is what they find once they serve the
 * same requests.
 */
class ShadowTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 29);
  private static final int ENGINES = 4;
  private static final int REQUESTS = LongRuns.cases(80, 2_000);
  private static final List<String> SHADOWS =
      LongRuns.cases(List.of("projected"), List.of("cost", "conversation"));

  private static final String SERVES = "round_robin";

  /** A kind of traffic. */
  enum Workload {

    /** Turns that begin with the conversation so far; as many are open as ranks can hold. */
    CONVERSATIONS {
      @Override
      List<int[]> prompts(Random random) {
        List<int[]> prompts = new ArrayList<>();
        int[][] open = new int[12][];
        while (prompts.size() < REQUESTS) {
          int which = random.nextInt(open.length);
          int[] before = open[which];
          boolean ends = before == null || before.length > 2_500;
          open[which] = joined(ends ? new int[0] : before, tokens(random, 100, 600));
          prompts.add(open[which]);
        }
        return prompts;
      }
    },

    /** Questions behind a few long beginnings. */
    SHARED_BEGINNINGS {
      @Override
      List<int[]> prompts(Random random) {
        List<int[]> heads =
            IntStream.range(0, 10).mapToObj(i -> tokens(random, 1_000, 3_000)).toList();
        return Stream.generate(
                () -> joined(heads.get(random.nextInt(heads.size())), tokens(random, 10, 300)))
            .limit(REQUESTS)
            .toList();
      }
    },

    /** Documents of which some are asked about often, and more than all ranks hold together. */
    REPEATED_DOCUMENTS {
      @Override
      List<int[]> prompts(Random random) {
        List<int[]> documents =
            IntStream.range(0, 100).mapToObj(i -> tokens(random, 1_000, 3_000)).toList();
        return Stream.generate(
                () -> documents.get((int) (documents.size() * Math.pow(random.nextDouble(), 3))))
            .limit(REQUESTS)
            .toList();
      }
    };

    abstract List<int[]> prompts(Random random);
  }

  private static int[] tokens(Random random, int least, int bound) {
    return random.ints(random.nextInt(least, bound), 0, 256).toArray();
  }

  private static int[] joined(int[] head, int[] tail) {
    int[] both = Arrays.copyOf(head, head.length + tail.length);
    System.arraycopy(tail, 0, both, head.length, tail.length);
    return both;
  }

  /** Serves all prompts, one after the other. Returns the share of their tokens that was cached. */
  private static double serve(TestGateway gateway, List<StandInServer> engines, List<int[]> all) {
    long tokens = 0;
    long cached = 0;
    for (int[] prompt : all) {
      Reply reply = gateway.post("/v1/completions", body(prompt));
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      JsonNode usage = reply.json().path("usage");
      tokens += usage.path("prompt_tokens").asLong();
      cached += usage.at("/prompt_tokens_details/cached_tokens").asLong();
      Await.until("all events", () -> isKnown(gateway, engines, reply.field("x-kvasir-worker")));
    }
    return cached / (double) tokens;
  }

  private static String body(int[] prompt) {
    return "{\"model\":\"%s\",\"max_tokens\":1,\"prompt\":%s}"
        .formatted(StandInServer.MODEL, Arrays.toString(prompt));
  }

  private static boolean isKnown(TestGateway gateway, List<StandInServer> engines, String worker) {
    for (JsonNode each : gateway.admin("/kvasir/ranks").json()) {
      if (each.path("worker_id").asText().equals(worker)) {
        long known = each.at("/ranks/0/last_batch").asLong(-1);
        return engines.stream()
            .filter(engine -> worker.endsWith(":" + engine.port()))
            .allMatch(engine -> engine.lastBatch() <= known);
      }
    }
    throw new AssertionError(worker);
  }

  private static double hitRate(TestGateway gateway, String router) {
    return metric(gateway, "hit_tokens_total", router)
        / metric(gateway, "prompt_tokens_total", router);
  }

  private static double metric(TestGateway gateway, String name, String router) {
    return gateway.metric("kvasir_shadow_" + name, "router=\"" + router + '"');
  }

  /** Serves the prompts with one policy and new engines. Returns the share that was cached. */
  private static double served(String router, List<int[]> prompts) {
    try (Fleet fleet = new Fleet(router, List.of())) {
      return serve(fleet.gateway, fleet.engines, prompts);
    }
  }

  private static final class Fleet implements AutoCloseable {
    private final List<StandInServer> engines = new ArrayList<>();
    private final TestGateway gateway;

    Fleet(String router, List<String> shadows) {
      for (int i = 0; i < ENGINES; i++) {
        engines.add(StandInServer.start(EngineFlavor.VLLM, 1));
      }
      gateway =
          TestGateway.of(engines.stream().map(StandInServer::worker).toList())
              .router(router)
              .shadows(shadows.toArray(String[]::new))
              .start();
    }

    @Override
    public void close() {
      gateway.close();
      engines.forEach(StandInServer::close);
    }
  }

  @ParameterizedTest
  @EnumSource
  void hitsAreThoseOfThePolicyOnceItServes(Workload workload) {
    List<int[]> prompts = workload.prompts(new Random(SEED));
    try (Fleet fleet = new Fleet(SERVES, SHADOWS)) {
      double hits = serve(fleet.gateway, fleet.engines, prompts);
      assertThat(hitRate(fleet.gateway, SERVES)).as(SERVES).isCloseTo(hits, within(0.02));
      for (String shadow : SHADOWS) {
        double said = hitRate(fleet.gateway, shadow);
        double found = served(shadow, prompts);
        System.out.printf("%s, %s: %.4f said, %.4f found%n", workload, shadow, said, found);
        assertThat(said).as(shadow).isCloseTo(found, within(0.02));
        assertThat(metric(fleet.gateway, "placed_requests_total", shadow))
            .isEqualTo(prompts.size());
        assertThat(metric(fleet.gateway, "busiest_rank_share", shadow)).isBetween(0.25, 1.0);
        assertThat(metric(fleet.gateway, "time_to_first_token_seconds", shadow)).isPositive();
      }
    }
  }

  /** The balancer is a gateway of its own. */
  @ParameterizedTest
  @EnumSource(names = "CONVERSATIONS")
  void behindABalancerTheySayTheSame(Workload workload) {
    List<int[]> prompts = workload.prompts(new Random(SEED));
    VirtualFleet ranks = new VirtualFleet(ENGINES, 1_000 * StandInServer.BLOCK);
    try (Fleet fleet = new Fleet(SERVES, List.of());
        TestGateway inFront =
            TestGateway.of(
                    List.of(
                        "http://127.0.0.1:%d,ranks=1,block_size=%d"
                            .formatted(fleet.gateway.gateway().port(), StandInServer.BLOCK)))
                .router("round_robin")
                .shadows(SHADOWS.toArray(String[]::new))
                .shadowFleet(ranks)
                .start()) {
      for (int[] prompt : prompts) {
        assertThat(inFront.post("/v1/completions", body(prompt)).status()).isEqualTo(200);
      }
      for (String shadow : SHADOWS) {
        double said = hitRate(inFront, shadow);
        double found = served(shadow, prompts);
        System.out.printf("%s, %s: %.4f said, %.4f found%n", workload, shadow, said, found);
        assertThat(said).as(shadow).isCloseTo(found, within(0.02));
        assertThat(metric(inFront, "busiest_rank_share", shadow)).isBetween(0.25, 1.0);
      }
      assertThat(inFront.admin("/metrics").text())
          .doesNotContain("kvasir_shadow_time_to_first_token_seconds")
          .doesNotContain("kvasir_shadow_hit_tokens_total{model=\"words\",router=\"round_robin");
    }
  }
}
