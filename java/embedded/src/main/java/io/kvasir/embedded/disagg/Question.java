package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.RequestFields;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an engine that wants KV asks the one that has it. Immutable by contract.
 *
 * @param key names the transfer
 * @param engineId the engine that is meant; null for any
 * @param rank the rank that is meant; null if the asked engine derives it from the key
 * @param missingTokens tokens whose KV has to be moved
 * @param promptTokens tokens of the prompt
 * @param promptHash a hash of the prompt's tokens; null if only its beginning is asked for
 * @param waitMs how long the answer may take to begin, in milliseconds
 * @param params what the request said about the transfer
 */
record Question(
    String key,
    @Nullable String engineId,
    @Nullable Integer rank,
    int missingTokens,
    int promptTokens,
    @Nullable Integer promptHash,
    long waitMs,
    ObjectNode params) {

  /** The same question to one rank. */
  Question toRank(int other) {
    return new Question(
        key, engineId, other, missingTokens, promptTokens, promptHash, waitMs, params);
  }

  static Question of(RequestFields fields) {
    Long rank = fields.number("rank", 0, Integer.MAX_VALUE);
    Long hash = fields.number("prompt_hash", Integer.MIN_VALUE, Integer.MAX_VALUE);
    Long waitMs = fields.number("wait_ms", 1, Long.MAX_VALUE / 2_000_000);
    String key = fields.text("key");
    if (key == null) {
      throw fields.missing("key");
    }
    fields.object("params"); // checks the type
    return new Question(
        key,
        fields.text("engine_id"),
        rank == null ? null : rank.intValue(),
        fields.integer("missing_tokens", 0, Integer.MAX_VALUE, 0),
        fields.integer("prompt_tokens", 0, Integer.MAX_VALUE, 0),
        hash == null ? null : hash.intValue(),
        Objects.requireNonNullElse(waitMs, RoleSettings.DEFAULT_LEASE_MS),
        fields.has("params")
            ? (ObjectNode) Objects.requireNonNull(fields.get("params"))
            : Json.object());
  }

  ObjectNode json() {
    ObjectNode json =
        Json.object()
            .put("key", key)
            .put("engine_id", engineId)
            .put("rank", rank)
            .put("missing_tokens", missingTokens)
            .put("prompt_tokens", promptTokens)
            .put("prompt_hash", promptHash)
            .put("wait_ms", waitMs);
    json.set("params", params);
    return json;
  }
}
