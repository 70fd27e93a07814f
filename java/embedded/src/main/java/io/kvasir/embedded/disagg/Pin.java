package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.ranks.BlockHold;
import io.kvasir.embedded.ranks.KvLeg;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Pinned blocks that another engine is to fetch. Immutable.
 *
 * @param key names the transfer
 * @param leg the prefill leg
 * @param engineId the name of the rank
 * @param hold the blocks
 * @param cachedTokens prompt tokens that were in the rank's pool before
 * @param verbatim fields that the other engine must have unchanged
 * @param params the field of the request that has them
 * @param onOver receives the end: null, or why the blocks were not fetched
 */
record Pin(
    String key,
    KvLeg leg,
    String engineId,
    BlockHold hold,
    int cachedTokens,
    ObjectNode verbatim,
    String params,
    Consumer<@Nullable TransferFailure> onOver) {

  /** Why a question does not fit; null if it does. */
  @Nullable TransferFailure mismatch(Question question, RankRule rule) {
    int rank = question.rank() == null ? rule.rankOf(key, hold.rank()) : question.rank();
    if (rank != hold.rank()) {
      return TransferFailure.wrong(
          rule.field(), "the KV is on rank " + hold.rank() + ", not on rank " + rank);
    }
    if (question.engineId() != null && !question.engineId().equals(engineId)) {
      return TransferFailure.wrong(
          params + ".remote_engine_id",
          "the KV is on engine " + engineId + ", not on " + question.engineId());
    }
    Integer hash = question.promptHash();
    if (hash != null
        && (question.promptTokens() != hold.tokens().length
            || hash != Arrays.hashCode(hold.tokens()))) {
      return TransferFailure.wrong("prompt", "the prompt is not the one that prefill has computed");
    }
    for (Map.Entry<String, JsonNode> field : verbatim.properties()) {
      JsonNode given = question.params().get(field.getKey());
      String text = given == null ? "missing" : given.toString();
      if (!text.equals(field.getValue().toString())) {
        return TransferFailure.wrong(
            params + "." + field.getKey(),
            "prefill has answered " + field.getValue() + ", and the request has " + text);
      }
    }
    return null;
  }

  /** Which rank has a transfer whose question names none. */
  interface RankRule {

    /** Any rank, unless a field names one. */
    static RankRule any(String field) {
      return new RankRule() {
        @Override
        public int rankOf(String key, int actual) {
          return actual;
        }

        @Override
        public String field() {
          return field;
        }
      };
    }

    /** The rank that a question without one means. */
    int rankOf(String key, int actual);

    /** The field that names ranks. */
    String field();
  }
}
