package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OpenAiErrorTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void errorsHaveTheShapesOfTheApis() {
    OpenAiError error = new OpenAiError("not_found_error", "no \"x\"\n", null, "model_not_found");
    String json =
        "{\"error\":{\"message\":\"no \\\"x\\\"\\n\",\"type\":\"not_found_error\","
            + "\"param\":null,\"code\":\"model_not_found\"}}";
    assertThat(text(error.body())).isEqualTo(json);
    assertThat(text(error.event())).isEqualTo("data: " + json + "\n\n");
    String anthropic =
        "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"no \\\"x\\\"\\n\"}}";
    assertThat(text(error.anthropicBody())).isEqualTo(anthropic);
    assertThat(text(error.anthropicEvent())).isEqualTo("event: error\ndata: " + anthropic + "\n\n");
  }

  @Test
  void invalidBodiesBecomeErrors() {
    OpenAiError error = OpenAiError.of(new InvalidBodyException("n", "n must be an integer"));
    assertThat(error)
        .isEqualTo(new OpenAiError("invalid_request_error", "n must be an integer", "n", null));
  }

  @Test
  void anyTextIsEscaped() throws IOException {
    long seed = Long.getLong("kvasir.test.seed", 46);
    Random random = new Random(seed);
    for (int i = 0; i < 5000; i++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(20); length > 0; length--) {
        text.append(
            (char) (random.nextBoolean() ? random.nextInt(0x100) : random.nextInt(0x10000)));
        text.append(random.nextInt(5) == 0 ? "🦊" : "");
      }
      byte[] body = new OpenAiError("t", text.toString(), text.toString(), null).body();
      String valid =
          new String(text.toString().getBytes(StandardCharsets.UTF_16), StandardCharsets.UTF_16);
      assertThat(text(body)).doesNotContain("\n", "\r");
      assertThat(JSON.readTree(body).at("/error/message").textValue())
          .as("seed %d", seed)
          .isEqualTo(valid);
      assertThat(JSON.readTree(body).at("/error/param").textValue()).isEqualTo(valid);
    }
  }
}
