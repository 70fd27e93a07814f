package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Conversations with common heads, where each third one branches off another, over three prefill
 * and three decode workers: all are served, and prefill workers find what an oracle finds that sees
 * the blocks of all their ranks at that moment and sends the request where most of it lies.
 */
class LegConversationsTest {

  private static final String COMPLETIONS = "/v1/completions";
  private static final int CONVERSATIONS = LongRuns.cases(20, 1_000);
  private static final int TURNS = 4;
  private static final int WORKERS = 3;
  private static final int RANKS = 2;
  private static final int CLIENTS = 4;
  private static final int HEADS = 4;
  private static final int HEAD_TOKENS = 300;
  private static final int TURN_TOKENS = 100;
  private static final int OUTPUT = 4;

  /** A block that is held counts as much as so many that wait: what is found, not load, decides. */
  private static final double HIT_WEIGHT = 100;

  /** What must hold is the bound of the long form; the short one finds gross errors only. */
  private static final double LEAST_SHARE = LongRuns.on() ? 0.98 : 0.85;

  /** What the oracle finds for each request, by the request's id. */
  private final Map<String, Integer> possible = new HashMap<>();

  private final List<StandInServer> prefills = new ArrayList<>();
  private final List<StandInServer> decodes = new ArrayList<>();

  private static DisaggSettings apart(Style style) {
    RouterChoice hits = new RouterChoice("cost", Map.of("kv_overlap_score_weight", HIT_WEIGHT));
    RouterChoice auto = new RouterChoice(RouterChoice.AUTO, Map.of());
    return new DisaggSettings(style, 0, 1, null, hits, auto, Await.limitMs(), false, false);
  }

  /** The prompts of each conversation, one for each turn. */
  private static List<List<int[]>> prompts() {
    Random random = new Random(36);
    int[][] heads = new int[HEADS][];
    Arrays.setAll(heads, i -> tokens(random, HEAD_TOKENS));
    List<List<int[]>> all = new ArrayList<>();
    for (int i = 0; i < CONVERSATIONS; i++) {
      boolean branches = i % 3 == 2;
      int[] text = branches ? all.get(i - 1).get(1) : heads[random.nextInt(HEADS)];
      List<int[]> turns = new ArrayList<>();
      for (int turn = 0; turn < TURNS; turn++) {
        int[] more = tokens(random, TURN_TOKENS + random.nextInt(TURN_TOKENS));
        int[] next = Arrays.copyOf(text, text.length + more.length);
        System.arraycopy(more, 0, next, text.length, more.length);
        turns.add(next);
        text = next;
      }
      all.add(turns);
    }
    return all;
  }

  private static int[] tokens(Random random, int count) {
    return random.ints(count, 'a', 'z').toArray();
  }

  /** Tokens of a prompt that the prefill rank holds which holds most of it. */
  private int oracle(int[] prompt) {
    long[] names =
        NativeBlockHasher.of(HashFormat.KVASIR, StandInServer.BLOCK)
            .hash(prompt, CacheScope.NONE)
            .sequence();
    int most = 0;
    for (StandInServer server : prefills) {
      for (Set<Long> held : server.blocks()) {
        int blocks = 0;
        while (blocks < names.length && held.contains(names[blocks])) {
          blocks++;
        }
        most = Math.max(most, blocks);
      }
    }
    return Math.min(most, (prompt.length - 1) / StandInServer.BLOCK) * StandInServer.BLOCK;
  }

  private void ask(TestGateway gateway, int conversation, int turn, int[] prompt) {
    boolean streams = (conversation + turn) % 2 == 0;
    String body =
        "{\"model\":\"words\",\"ignore_eos\":true,\"max_tokens\":"
            + OUTPUT
            + ",\"prompt\":"
            + Arrays.toString(prompt)
            + (streams ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "")
            + "}";
    String id = "c" + conversation + "-" + turn;
    int found = oracle(prompt);
    synchronized (possible) {
      possible.put(id, found);
    }
    Reply reply =
        gateway.post(COMPLETIONS, body, "X-Request-Id: " + id, "X-Session-ID: c" + conversation);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.text())
        .contains("\"completion_tokens\":" + OUTPUT)
        .doesNotContain("\"error\"");
  }

  /** The turns of one client's conversations, in an order of its own. */
  private void run(TestGateway gateway, List<List<int[]>> prompts, int client) {
    Random random = new Random(client);
    List<Integer> open = new ArrayList<>();
    int[] turns = new int[prompts.size()];
    for (int next = client; next < prompts.size() || !open.isEmpty(); ) {
      if (next < prompts.size() && open.size() < 8) {
        open.add(next);
        next += CLIENTS;
      } else {
        int at = random.nextInt(open.size());
        int conversation = open.get(at);
        int turn = turns[conversation]++;
        ask(gateway, conversation, turn, prompts.get(conversation).get(turn));
        if (turn == TURNS - 1) {
          open.remove(at);
        }
      }
    }
  }

  private void open(KvConnector connector) {
    for (int i = 0; i < WORKERS; i++) {
      prefills.add(StandInServer.leg(EngineRole.PREFILL, connector, RANKS));
      decodes.add(StandInServer.leg(EngineRole.DECODE, connector, RANKS));
    }
  }

  @ParameterizedTest
  @MethodSource("io.kvasir.gateway.LegFaults#dialects")
  void allAreServedAndPrefillWorkersFindWhatAnOracleFinds(KvConnector connector, Style style)
      throws Exception {
    open(connector);
    List<StandInServer> servers = new ArrayList<>(prefills);
    servers.addAll(decodes);
    List<String> workers = servers.stream().map(StandInServer::leg).toList();
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try (TestGateway gateway = TestGateway.of(workers).disagg(apart(style)).start()) {
      List<List<int[]>> prompts = prompts();
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        all.add(clients.submit(() -> run(gateway, prompts, client)));
      }
      for (Future<?> each : all) {
        each.get(); // each request has a limit of its own
      }
      compare(gateway, connector + ", " + style);
      for (StandInServer server : servers) {
        Await.until("nothing is pinned", () -> isIdle(server.transfers()));
      }
    } finally {
      clients.shutdownNow();
      servers.forEach(StandInServer::close);
    }
  }

  private static boolean isIdle(JsonNode transfers) {
    return transfers.path("pinned_blocks").asInt(-1) == 0
        && transfers.path("arriving_blocks").asInt(-1) == 0
        && transfers.path("open").asInt(-1) == 0
        && transfers.path("failed").asInt(-1) == 0
        && transfers.path("recomputed").asInt(-1) == 0;
  }

  private void compare(TestGateway gateway, String dialect) {
    long found = 0;
    long all = 0;
    int split = 0;
    for (int i = 0; i < CONVERSATIONS * TURNS; i++) {
      JsonNode line = gateway.logLine();
      if (line.has("prefill_cached_tokens")) {
        int most = possible.get(line.path("request_id").asText());
        found += Math.min(most, line.path("prefill_cached_tokens").asInt());
        all += most;
        split++;
      }
    }
    String figures =
        String.format(
            Locale.ROOT,
            "%s: %d requests served, %d of them over two legs, cached by the oracle's %.4f",
            dialect,
            CONVERSATIONS * TURNS,
            split,
            (double) found / all);
    System.out.println(figures);
    assertThat(split).as(figures).isGreaterThan(CONVERSATIONS * TURNS * 9 / 10);
    assertThat((double) found / all).as(figures).isGreaterThanOrEqualTo(LEAST_SHARE);
  }
}
