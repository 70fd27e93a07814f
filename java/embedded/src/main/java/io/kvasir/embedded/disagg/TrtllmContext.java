package io.kvasir.embedded.disagg;

import static io.kvasir.embedded.disagg.TrtllmDialect.CONTEXT_ONLY;
import static io.kvasir.embedded.disagg.TrtllmDialect.CONVERSATION;
import static io.kvasir.embedded.disagg.TrtllmDialect.CTX_REQUEST_ID;
import static io.kvasir.embedded.disagg.TrtllmDialect.DP_RANK;
import static io.kvasir.embedded.disagg.TrtllmDialect.DRAFT;
import static io.kvasir.embedded.disagg.TrtllmDialect.ENDPOINT;
import static io.kvasir.embedded.disagg.TrtllmDialect.FIRST_TOKENS;
import static io.kvasir.embedded.disagg.TrtllmDialect.NAME;
import static io.kvasir.embedded.disagg.TrtllmDialect.REQUEST_ID;
import static io.kvasir.embedded.disagg.TrtllmDialect.STATE;
import static io.kvasir.embedded.disagg.TrtllmDialect.STYLE;
import static io.kvasir.embedded.disagg.TrtllmDialect.TYPE;
import static io.kvasir.embedded.disagg.TrtllmDialect.USAGE;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import io.kvasir.embedded.disagg.KvDeparture.Computed;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * What a context server answers. Immutable by contract.
 *
 * @param engine the server
 * @param ids names the request
 * @param conversation the conversation, as it was sent
 * @param base64 whether the prompt's tokens are answered as a buffer
 * @param prompt the prompt's tokens
 */
@SuppressWarnings("ArrayRecordComponent") // not compared
record TrtllmContext(
    EngineIdentity engine, Ids ids, @Nullable String conversation, boolean base64, int[] prompt) {

  private static final String STATE_PREFIX = "kvasir ";

  /** Ids of engines need more bits than a double has. */
  private static final long LEAST_CONTEXT_ID = (1L << 53) + 1;

  /**
   * The names of a request.
   *
   * @param request that of the router
   * @param generationFirst whether generation does not wait for the context's answer
   * @param context that of the server
   */
  record Ids(long request, boolean generationFirst, long context) {
    Ids(long request, boolean generationFirst) {
      this(
          request,
          generationFirst,
          generationFirst
              ? request
              : ThreadLocalRandom.current().nextLong(LEAST_CONTEXT_ID, Long.MAX_VALUE) | 1);
    }
  }

  static ObjectNode nothing() {
    return Json.object();
  }

  /**
   * The address in an opaque state.
   *
   * @throws IllegalArgumentException if it has none
   */
  static URI addressIn(String state) {
    String text = new String(Base64.getDecoder().decode(state), StandardCharsets.UTF_8);
    if (!text.startsWith(STATE_PREFIX)) {
      throw new IllegalArgumentException("it has no address");
    }
    return EngineIdentity.httpUrl(text.substring(STATE_PREFIX.length()));
  }

  /** What the reply says about a computed prompt. */
  Announcement announce(Computed computed) {
    String state = STATE_PREFIX + engine.url();
    ObjectNode verbatim =
        Json.object().put(CTX_REQUEST_ID, ids.context()).put(REQUEST_ID, ids.request());
    ArrayNode first = verbatim.putArray(FIRST_TOKENS);
    for (int token : computed.outputTokens()) {
      first.add(token);
    }
    verbatim
        .put(STATE, Base64.getEncoder().encodeToString(state.getBytes(StandardCharsets.UTF_8)))
        .put(DP_RANK, computed.hold().rank())
        .put(ENDPOINT, engine.url().toString())
        .put(STYLE, ids.generationFirst() ? 1 : 0);
    ObjectNode said = Json.object().put(TYPE, CONTEXT_ONLY);
    said.setAll(verbatim);
    said.putNull(DRAFT);
    said.put(CONVERSATION, conversation);
    said.set(USAGE, usage(computed));
    return new Announcement(
        ids.generationFirst() ? nothing() : verbatim, reply -> addTo(reply, said));
  }

  private static ObjectNode usage(Computed computed) {
    int output = computed.outputTokens().length;
    ObjectNode usage =
        Json.object()
            .put("prompt_tokens", computed.promptTokens())
            .put("total_tokens", computed.promptTokens() + output)
            .put("completion_tokens", output);
    usage.putObject("prompt_tokens_details").put("cached_tokens", computed.cachedTokens());
    return usage;
  }

  private void addTo(ObjectNode reply, ObjectNode said) {
    if (reply.path("choices").path(0) instanceof ObjectNode choice) {
      choice.set(NAME, said);
    }
    if (base64) {
      ByteBuffer bytes = ByteBuffer.allocate(prompt.length * Integer.BYTES);
      bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(prompt);
      reply.put("prompt_token_ids_b64", Base64.getEncoder().encodeToString(bytes.array()));
      return;
    }
    ArrayNode tokens = reply.putArray("prompt_token_ids");
    for (int token : prompt) {
      tokens.add(token);
    }
  }
}
