package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContinuedInputTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long SEED = Long.getLong("kvasir.test.seed", 35);
  private static final String[] ROLES = {"user", "assistant", "system", "developer"};
  private static final String[] TYPES = {"message", "function_call", "function_call_output"};

  private final Random random = new Random(SEED);

  private static BodyScan scan(String json) throws InvalidBodyException {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    return BodyScan.of(bytes, 0, bytes.length);
  }

  private JsonNode input() {
    if (random.nextInt(4) == 0) {
      return TextNode.valueOf("text \"\u00e4\n" + random.nextInt());
    }
    ArrayNode items = JSON.createArrayNode();
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      ObjectNode item = items.addObject();
      if (random.nextBoolean()) {
        item.put("type", TYPES[random.nextInt(TYPES.length)]);
      }
      item.putObject("other").put("role", "system").put("type", "function_call");
      if (random.nextBoolean()) {
        item.put("role", ROLES[random.nextInt(ROLES.length)]);
      }
      item.put("content", "item " + random.nextInt());
    }
    return items;
  }

  /** The obvious way; null where the first item of a further input is a call. */
  private static JsonNode joined(List<JsonNode> inputs) {
    ArrayNode all = JSON.createArrayNode();
    for (int i = 0; i < inputs.size(); i++) {
      JsonNode input = inputs.get(i);
      if (input.isTextual()) {
        all.addObject().put("role", "user").set("content", input);
      }
      if (i > 0 && input.path(0).path("type").asText().equals("function_call")) {
        return null;
      }
      for (JsonNode item : input) {
        if (i == inputs.size() - 1 || !item.path("role").asText().equals("system")) {
          all.add(item);
        }
      }
    }
    return all;
  }

  @Test
  void randomConversationsAreJoined() throws IOException, InvalidBodyException {
    int calls = 0;
    for (int run = 0; run < LongRuns.cases(2_000, 100_000); run++) {
      List<JsonNode> inputs = new ArrayList<>();
      List<byte[]> earlier = new ArrayList<>();
      int turns = 1 + random.nextInt(4);
      for (int i = 0; i < turns; i++) {
        JsonNode input = input();
        inputs.add(input);
        String json = random.nextBoolean() ? input.toString() : input.toPrettyString();
        earlier.add(json.getBytes(StandardCharsets.UTF_8));
      }
      JsonNode last = input();
      inputs.add(last);
      ObjectNode body = JSON.createObjectNode().put("model", "m");
      body.put("previous_response_id", "resp_1").set("input", last);
      BodyScan whole = ContinuedInput.join(scan(body.toPrettyString()), earlier);
      JsonNode expected = joined(inputs);
      if (expected == null) {
        assertThat(whole).as("run %d, seed %d", run, SEED).isNull();
        calls++;
        continue;
      }
      body.remove("previous_response_id");
      body.set("input", expected);
      JsonNode read = JSON.readTree(whole.bytes(), whole.offset(), whole.length());
      assertThat(read).as("run %d, seed %d", run, SEED).isEqualTo(body);
    }
    assertThat(calls).isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "{}", "[", "[{\"a\":]", "", "[{},"})
  void anAnswerThatIsNoListOfItemsIsNotJoined(String answer) throws InvalidBodyException {
    List<byte[]> earlier = List.of(answer.getBytes(StandardCharsets.UTF_8));
    assertThat(ContinuedInput.join(scan("{\"input\":\"Hi\"}"), earlier)).isNull();
  }

  @Test
  void aRequestWithoutInputIsNotJoined() throws InvalidBodyException {
    assertThat(ContinuedInput.size(scan("{\"input\":null}"))).isZero();
    assertThat(ContinuedInput.join(scan("{}"), List.of())).isNull();
  }
}
