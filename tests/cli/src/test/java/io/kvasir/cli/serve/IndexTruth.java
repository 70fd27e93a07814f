package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Compares what a gateway knows with the blocks that the engines of its fleets hold. */
final class IndexTruth {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, List<FleetEngine>> fleets;
  private final FleetLoad load;

  /**
   * The truth about fleets.
   *
   * @param fleets engines by their model
   * @param load whose prompts are looked for
   */
  IndexTruth(Map<String, List<FleetEngine>> fleets, FleetLoad load) {
    this.fleets = fleets;
    this.load = load;
  }

  /**
   * How the index differs from the blocks of all engines: in the number of a rank's blocks, or in
   * what it holds of any prompt of the load. Empty if it does not.
   */
  String difference(ServingProcess gateway) throws IOException, InterruptedException {
    JsonNode reported =
        JSON.readTree(ServingProcess.get(gateway.adminUrl() + "/kvasir/ranks").body());
    Map<String, List<Set<Long>>> truth = new TreeMap<>();
    for (List<FleetEngine> engines : fleets.values()) {
      for (FleetEngine engine : engines) {
        truth.put(engine.name(), engine.blocks());
      }
    }
    assertThat(reported).hasSize(truth.size());
    for (JsonNode worker : reported) {
      for (JsonNode rank : worker.path("ranks")) {
        int held =
            truth.get(worker.path("worker_id").asText()).get(rank.path("dp_rank").asInt()).size();
        if (rank.path("blocks").asInt() != held
            || !rank.path("state").asText().equals("live")
            || rank.path("untrusted").asBoolean()) {
          return held + " blocks of " + worker.path("worker_id") + " are reported as " + rank;
        }
      }
    }
    for (String model : fleets.keySet()) {
      for (String prompt : load.lasts()) {
        String difference = difference(gateway, model, prompt, truth);
        if (!difference.isEmpty()) {
          return difference;
        }
      }
    }
    return "";
  }

  private String difference(
      ServingProcess gateway, String model, String prompt, Map<String, List<Set<Long>>> truth)
      throws IOException, InterruptedException {
    String query =
        "{\"model\":\""
            + model
            + "\",\"token_ids\":"
            + Arrays.toString(FleetLoad.tokens(prompt))
            + "}";
    HttpResponse<String> reply = ServingProcess.post(gateway.adminUrl() + "/query", query);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    for (FleetEngine engine : fleets.get(model)) {
      JsonNode ranks = JSON.readTree(reply.body()).path("default").path(engine.name()).path("DP");
      for (int rank = 0; rank < FleetEngine.RANKS; rank++) {
        int matched = FleetLoad.matched(prompt, truth.get(engine.name()).get(rank));
        if (ranks.path("" + rank).asInt() != matched) {
          return engine.name() + " holds " + matched + " tokens at rank " + rank + ", not " + ranks;
        }
      }
    }
    return "";
  }
}
