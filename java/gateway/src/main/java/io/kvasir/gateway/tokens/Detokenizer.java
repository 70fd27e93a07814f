package io.kvasir.gateway.tokens;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.worker.EngineQuestion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/** Asks an engine for the text of some tokens. Stateless. */
public final class Detokenizer {

  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper READER = new ObjectMapper();
  private static final int MAX_REPLY_BYTES = 64 << 10;
  private static final long TIMEOUT_MS = 2_000;

  private Detokenizer() {}

  /**
   * Asks.
   *
   * @param upstream the engine
   * @param loop the current event loop
   * @param tokens the tokens
   * @param then receives their text once, later; empty if the engine does not say
   */
  public static void ask(Upstream upstream, EventLoop loop, int[] tokens, Consumer<String> then) {
    EngineQuestion.post(
        upstream,
        "/detokenize",
        body(tokens),
        loop,
        MAX_REPLY_BYTES,
        TIMEOUT_MS,
        (status, answer) -> then.accept(status == 200 ? text(answer) : ""));
  }

  private static byte[] body(int[] tokens) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeFieldName("tokens");
      json.writeArray(tokens, 0, tokens.length);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** vLLM's field is {@code prompt}, SGLang's {@code text}. */
  private static String text(byte[] answer) {
    try {
      JsonNode json = READER.readTree(answer);
      String prompt = json.path("prompt").asText("");
      return prompt.isEmpty() ? json.path("text").asText("") : prompt;
    } catch (IOException e) {
      return "";
    }
  }
}
