package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.cli.Outcome;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traffic that a gateway recorded has the same hits in a replay as it had when it was served. */
@Tag("process")
class RecordedTrafficProcessTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern PORTS =
      Pattern.compile("events from port (\\d+), replay from (\\d+)");
  private static final int CONVERSATIONS = 12;
  private static final int TURNS = 6;
  private static final long SEED = 5;

  @TempDir Path folder;

  private long promptTokens;
  private long cachedTokens;

  private static String words(Random random, int count) {
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < count; i++) {
      words.append(" word").append(random.nextInt(10_000));
    }
    return words.toString();
  }

  private static void say(ArrayNode messages, String role, String content) {
    messages.addObject().put("role", role).put("content", content);
  }

  private void turn(ServingProcess gateway, ArrayNode messages) throws Exception {
    ObjectNode body = JSON.createObjectNode().put("model", "kvasir").put("max_tokens", 40);
    body.set("messages", messages);
    HttpResponse<String> answer =
        ServingProcess.post(gateway.url() + "/v1/chat/completions", body.toString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode reply = JSON.readTree(answer.body());
    promptTokens += reply.at("/usage/prompt_tokens").asLong();
    cachedTokens += reply.at("/usage/prompt_tokens_details/cached_tokens").asLong();
    say(messages, "assistant", reply.at("/choices/0/message/content").asText());
  }

  @Test
  void aReplayHasTheHitsThatWereServed() throws Exception {
    Path day = folder.resolve("day.jsonl");
    String options = "--flavor vllm --events map --dp 2 --tokens-per-block 16 --speed 20";
    try (ServingProcess engine =
        ServingProcess.engine((options + " --events-port 0 --replay-port 0").split(" ", -1))) {
      Matcher ports = PORTS.matcher(engine.output());
      assertThat(ports.find()).as(engine.output()).isTrue();
      // The block size is stated: a router that began before the engine said it, with blocks of
      // another size, would leave its first requests out of the replay.
      String worker =
          engine.url()
              + ",flavor=vllm,ranks=2,block_size=16,events=tcp://127.0.0.1:"
              + ports.group(1)
              + ",replay=tcp://127.0.0.1:"
              + ports.group(2);
      try (ServingProcess gateway =
          ServingProcess.gateway(List.of(worker), "--record", day.toString())) {
        Random random = new Random(SEED);
        ArrayNode[] chats = new ArrayNode[CONVERSATIONS];
        for (int turn = 0; turn < TURNS; turn++) {
          for (int i = 0; i < CONVERSATIONS; i++) {
            if (turn == 0) {
              chats[i] = JSON.createArrayNode();
              say(chats[i], "system", "You are brief." + " Be kind.".repeat(60));
            }
            say(chats[i], "user", words(random, 60));
            turn(gateway, chats[i]);
          }
        }
        gateway.terminate();
        assertThat(gateway.exitCode()).as(gateway.output()).isZero();
      }
    }
    assertThat(Files.readString(day)).doesNotContain("word").doesNotContain("kind");

    JsonNode report =
        Outcome.of(
                Map.of(),
                "replay --format json --router default --fleet-router projected --workers 1"
                    + " --ranks 2 --tokens-per-block 16 --recording "
                    + day)
            .json();
    int all = CONVERSATIONS * TURNS;
    long recorded =
        Files.readAllLines(day).stream()
            .filter(line -> line.contains("\"op\":\"request\""))
            .count();
    assertThat(report.get("completed").asInt())
        .as("%d of %d recorded; %s", recorded, all, report.get("rejected"))
        .isEqualTo(all);
    assertThat(promptTokens).isPositive();
    assertThat(report.get("tokenHitRate").asDouble())
        .as("seed %s", SEED)
        .isCloseTo((double) cachedTokens / promptTokens, within(0.05));
  }
}
