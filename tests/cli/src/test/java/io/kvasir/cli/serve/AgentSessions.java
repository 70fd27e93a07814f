package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

/** Sessions of agents by the clients of npm, and how much of their prompts was cached. */
record AgentSessions(List<Sent> all) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * A request.
   *
   * @param run the place of its API in the list
   * @param whole the request as one that names no stored response
   */
  record Sent(
      int run,
      String api,
      String path,
      int session,
      int turn,
      JsonNode whole,
      int prompt,
      int cached) {

    private int[] tokens(ServingProcess renderer) throws IOException, InterruptedException {
      var reply = ServingProcess.post(renderer.url() + path + "/render", whole.toString());
      assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
      JsonNode ids = JSON.readTree(reply.body()).get("token_ids");
      return StreamSupport.stream(ids.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
    }
  }

  /** Cached tokens, and those that an oracle finds. */
  record Share(String api, long cached, long possible) {

    private Share plus(Share other) {
      return new Share(api, cached + other.cached, possible + other.possible);
    }

    double value() {
      return (double) cached / possible;
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%s %.4f", api, value());
    }
  }

  /** Runs sessions of some APIs, comma-separated. */
  static AgentSessions run(
      Path folder, String url, String apis, int sessions, int turns, String... more)
      throws IOException {
    Path log = Files.createTempFile("agents", ".jsonl");
    Map<String, String> variables = new HashMap<>();
    variables.put("KVASIR_URL", url);
    variables.put("KVASIR_LOG", log.toString());
    variables.put("KVASIR_APIS", apis);
    variables.put("KVASIR_SESSIONS", "" + sessions);
    variables.put("KVASIR_TURNS", "" + turns);
    variables.put("KVASIR_SEED", "" + Long.getLong("kvasir.test.seed", 35));
    for (int i = 0; i < more.length; i += 2) {
      variables.put(more[i], more[i + 1]);
    }
    try {
      Tools.Result result = Tools.run(folder, variables, "node", "agent_sessions.mjs");
      assertThat(result.exitCode()).as(result.output()).isZero();
      List<Sent> all = new ArrayList<>();
      for (String line : Files.readAllLines(log)) {
        all.add(JSON.readValue(line, Sent.class));
      }
      assertThat(all).hasSize(apis.split(",", -1).length * sessions * turns);
      return new AgentSessions(all);
    } finally {
      Files.delete(log);
    }
  }

  /**
   * Cached tokens by those of an oracle, for each API in the order of the list, of all requests but
   * the first ones of their sessions.
   *
   * @param renderer has the tokens of each request
   */
  List<Share> shares(ServingProcess renderer, OraclePools oracle)
      throws IOException, InterruptedException {
    Map<Integer, Share> shares = new TreeMap<>();
    for (Sent sent : all) {
      int[] tokens = sent.tokens(renderer);
      assertThat(sent.prompt).as("tokens of the engine's prompt").isEqualTo(tokens.length);
      int possible = oracle.serve(sent.run + "/" + sent.session, tokens);
      if (sent.turn > 0) {
        Share share = new Share(sent.api, Math.min(sent.cached, possible), possible);
        shares.merge(sent.run, share, Share::plus);
      }
    }
    return List.copyOf(shares.values());
  }
}
