package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.testing.network.NetworkNamespace;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two fleets of four engine processes with two ranks each behind one gateway process, one of vLLM
 * and one of SGLang, each engine with events of another form: what the gateway knows is what the
 * engines hold, also after faults, and requests find their prefixes.
 */
@Tag("fleets")
@Tag("process")
class EngineFleetsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long SEED = 13;
  private static final FleetLoad LOAD = FleetLoad.of(SEED);
  private static final int FLEET = 4;
  private static final int CLIENTS = 4;
  private static final String GAPS = "kvasir_kv_events_gaps_total";

  /** Loads while sockets are paused. */
  private static final int PAUSED_LOADS = LongRuns.cases(1, 10);

  /** Routers that find no more prefixes than the one by default. */
  private static final List<String> OTHER_ROUTERS =
      LongRuns.cases(List.of(), List.of("cost", "conversation", "round_robin"));

  private static final Map<String, List<FleetEngine>> FLEETS = new TreeMap<>();
  private static final IndexTruth TRUTH = new IndexTruth(FLEETS, LOAD);
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private static ServingProcess gateway;

  /** The network of the last engine of each fleet; null if this machine allows none. */
  private static @Nullable NetworkNamespace network;

  private static String noNetwork = "";

  @BeforeAll
  static void start() throws Exception {
    try {
      network = NetworkNamespace.create();
    } catch (IOException e) {
      noNetwork = e.getMessage();
    }
    List<Future<FleetEngine>> engines = new ArrayList<>();
    ExecutorService starters = Executors.newFixedThreadPool(2);
    for (String forms :
        List.of(
            "alpha vllm --events map",
            "alpha vllm --events array --replay short",
            "alpha vllm --events mixed --event-hashes bytes",
            "alpha vllm --events map --topic kv-events",
            "beta sglang --events array",
            "beta sglang --events map --replay long",
            "beta sglang --events mixed --topic blocks",
            "beta sglang --events array --replay long")) {
      String[] words = forms.split(" ", -1);
      String[] options = Arrays.copyOfRange(words, 2, words.length);
      NetworkNamespace in = engines.size() % FLEET == FLEET - 1 ? network : null;
      engines.add(starters.submit(() -> new FleetEngine(in, words[0], words[1], options)));
    }
    starters.shutdown();
    for (Future<FleetEngine> engine : engines) {
      FleetEngine started = engine.get();
      FLEETS.computeIfAbsent(started.model(), model -> new ArrayList<>()).add(started);
    }
    gateway = gateway("auto");
  }

  @AfterAll
  static void stop() {
    THREADS.shutdownNow();
    if (gateway != null) {
      gateway.close();
    }
    engines().forEach(FleetEngine::close);
    if (network != null) {
      network.close();
    }
  }

  @BeforeEach
  void begin() throws Exception {
    empty();
  }

  private static void empty() throws IOException, InterruptedException {
    for (FleetEngine engine : engines()) {
      engine.faults("{'drop':0,'pause':false,'pause_loses':false}");
      engine.clear();
    }
    awaitExact("empty pools");
  }

  private static List<FleetEngine> engines() {
    return FLEETS.values().stream().flatMap(List::stream).toList();
  }

  /** A gateway that knows all engines to be healthy. */
  private static ServingProcess gateway(String router) throws IOException {
    ServingProcess started =
        ServingProcess.gateway(
            engines().stream().map(FleetEngine::worker).toList(),
            "--fleet-router",
            router,
            "--health-interval-seconds",
            "1");
    awaitHealthy(started, engines().size());
    return started;
  }

  private static void awaitHealthy(ServingProcess gateway, int count) {
    gateway.await(
        "in front of " + count + " healthy engines",
        () -> gateway.metric("kvasir_worker_healthy") == count);
  }

  // ---- what the gateway knows ------------------------------------------------------------------

  /** Waits until the index is the truth. */
  private static void awaitExact(String after) {
    long startNs = System.nanoTime();
    AtomicReference<String> difference = new AtomicReference<>();
    try {
      Await.until(
          "the index is the truth",
          () -> {
            difference.set(TRUTH.difference(gateway));
            return difference.get().isEmpty();
          });
    } catch (AssertionError e) {
      throw new AssertionError(after + ": " + difference, e);
    }
    long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    System.out.println("index equal to the engines' blocks after " + after + ": " + ms + " ms");
  }

  // ---- load ------------------------------------------------------------------------------------

  /** Sends a prompt; returns how many of its tokens were cached. */
  private static long cached(String url, String model, String prompt, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<String> reply =
        ServingProcess.post(url + "/v1/completions", FleetLoad.body(model, prompt), headers);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    JsonNode usage = JSON.readTree(reply.body()).path("usage");
    assertThat(usage.path("prompt_tokens").asInt()).isEqualTo(prompt.length());
    return usage.at("/prompt_tokens_details/cached_tokens").asLong();
  }

  /** One prompt after the other in each fleet; returns the cached tokens of all. */
  private static long sequential(ServingProcess through) throws Exception {
    return inEachFleet(
        model -> {
          long sum = 0;
          for (String prompt : LOAD.prompts()) {
            sum += cached(through.url(), model, prompt);
          }
          return sum;
        });
  }

  /** The same through a gateway of its own. */
  private static long sequential(String router) throws Exception {
    try (ServingProcess other = gateway(router)) {
      return sequential(other);
    }
  }

  /** The rank that truly holds most of a prompt, and among equals the one with fewest blocks. */
  private record Best(FleetEngine engine, int rank, int matched) {

    static Best of(String model, String prompt) throws IOException, InterruptedException {
      Best best = null;
      long bestScore = Long.MIN_VALUE;
      for (FleetEngine engine : FLEETS.get(model)) {
        List<Set<Long>> blocks = engine.blocks();
        for (int rank = 0; rank < blocks.size(); rank++) {
          int matched = FleetLoad.matched(prompt, blocks.get(rank));
          long score = ((long) matched << 32) - blocks.get(rank).size();
          if (score > bestScore) {
            bestScore = score;
            best = new Best(engine, rank, matched);
          }
        }
      }
      return Objects.requireNonNull(best);
    }
  }

  /** Sends the same arrivals where the engines' true blocks say; returns the cached tokens. */
  private static long oracle() throws Exception {
    return inEachFleet(
        model -> {
          long sum = 0;
          for (String prompt : LOAD.prompts()) {
            Best best = Best.of(model, prompt);
            sum += cached(best.engine.url(), model, prompt, "X-data-parallel-rank", "" + best.rank);
          }
          return sum;
        });
  }

  /** Sends the same arrivals to random ranks; returns the cached tokens. */
  private static long randomly() throws Exception {
    return inEachFleet(
        model -> {
          Random random = new Random(SEED);
          long sum = 0;
          for (String prompt : LOAD.prompts()) {
            FleetEngine engine = FLEETS.get(model).get(random.nextInt(FLEET));
            String rank = "" + random.nextInt(FleetEngine.RANKS);
            sum += cached(engine.url(), model, prompt, "X-data-parallel-rank", rank);
          }
          return sum;
        });
  }

  /** What is done for one fleet. */
  private interface Run {
    long of(String model) throws Exception;
  }

  private static long inEachFleet(Run run) throws Exception {
    List<Future<Long>> runs = new ArrayList<>();
    for (String model : FLEETS.keySet()) {
      runs.add(THREADS.submit(() -> run.of(model)));
    }
    return sum(runs);
  }

  private static long sum(List<Future<Long>> runs) {
    long sum = 0;
    for (Future<Long> run : runs) {
      sum += Await.result("a load", run);
    }
    return sum;
  }

  /** Sends the whole load to both fleets with several clients each, without waiting for the end. */
  private static List<Future<Long>> concurrent() {
    List<Future<Long>> runs = new ArrayList<>();
    for (String model : FLEETS.keySet()) {
      for (int client = 0; client < CLIENTS; client++) {
        int first = client;
        Callable<Long> prompts =
            () -> {
              long sum = 0;
              for (int i = first; i < LOAD.prompts().size(); i += CLIENTS) {
                sum += cached(gateway.url(), model, LOAD.prompts().get(i));
              }
              return sum;
            };
        runs.add(THREADS.submit(prompts));
      }
    }
    return runs;
  }

  // ---- tests -----------------------------------------------------------------------------------

  @Test
  void requestsFindTheirPrefixes() throws Exception {
    long oracle = oracle();
    awaitExact("the oracle");
    Map<String, Long> others = new TreeMap<>();
    empty();
    others.put("random", randomly());
    for (String router : OTHER_ROUTERS) {
      empty();
      others.put(router, sequential(router));
    }
    begin();
    long hits = sequential(gateway);
    awaitExact("a sequential load");
    System.out.println(
        "cached tokens with seed "
            + SEED
            + ": "
            + hits
            + " of the "
            + oracle
            + " that an oracle reaches which reads the engines' blocks; "
            + others);
    assertThat(hits).isGreaterThanOrEqualTo(oracle * 95 / 100);
    assertThat(hits).isGreaterThanOrEqualTo(Collections.max(others.values()));
    sum(concurrent());
    awaitExact("a concurrent load");
  }

  @Test
  void droppedBatchesAreReplayed() throws Exception {
    for (FleetEngine engine : engines()) {
      engine.faults("{'drop':0.01}");
    }
    double gaps = gateway.metric(GAPS);
    do {
      sum(concurrent());
    } while (gateway.metric(GAPS) == gaps);
    for (FleetEngine engine : engines()) {
      engine.faults("{'drop':0}");
    }
    awaitExact("dropped batches");
  }

  @Test
  void pausedSocketsCatchUp() throws Exception {
    for (List<FleetEngine> fleet : FLEETS.values()) {
      fleet.get(0).faults("{'rank':0,'pause':true}");
      fleet.get(1).faults("{'rank':1,'pause':true,'pause_loses':true}");
    }
    for (int i = 0; i < PAUSED_LOADS; i++) {
      sum(concurrent());
    }
    assertThat(TRUTH.difference(gateway)).as("the index misses what was paused").isNotEmpty();
    for (FleetEngine engine : engines()) {
      engine.faults("{'pause':false,'pause_loses':false}");
    }
    awaitExact("a pause");
  }

  @Test
  void killedEnginesLoseNoRequest() throws Exception {
    sum(concurrent());
    List<Future<Long>> running = concurrent();
    for (List<FleetEngine> fleet : FLEETS.values()) {
      fleet.get(2).kill();
    }
    sum(running);
    running = concurrent();
    for (List<FleetEngine> fleet : FLEETS.values()) {
      fleet.get(2).restart();
    }
    sum(running);
    awaitExact("kill -9 and a restart");
    sum(concurrent());
    awaitExact("a load of the restarted engines");
  }

  @Test
  void enginesBehindCutLinksLoseNoRequest() throws Exception {
    Assumptions.assumeTrue(network != null, "no network namespace: " + noNetwork);
    sum(concurrent());
    List<Future<Long>> running = concurrent();
    network.cut();
    try {
      awaitHealthy(gateway, engines().size() - FLEETS.size()); // one of each fleet is behind it
    } finally {
      network.heal();
    }
    sum(running);
    awaitExact("a cut, with requests");
    sum(concurrent());
    awaitExact("a load of the engines behind the link");
  }
}
