package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.RequestFields;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's {@code kv_transfer_params} of a request, checked. Immutable by contract.
 *
 * @param json the object
 * @param fields its fields
 * @param decode whether the request is a decode leg; if not, it is a prefill leg
 */
record KvParams(ObjectNode json, RequestFields fields, boolean decode) {

  /** The field of requests and replies. */
  static final String NAME = "kv_transfer_params";

  static final String DO_REMOTE_DECODE = "do_remote_decode";
  static final String DO_REMOTE_PREFILL = "do_remote_prefill";
  static final String TRANSFER_ID = "transfer_id";
  static final String ENGINE_ID = "remote_engine_id";
  static final String REQUEST_ID = "remote_request_id";
  static final String BLOCK_IDS = "remote_block_ids";
  static final String HOST = "remote_host";
  static final String PORT = "remote_port";

  private static final int MAX_PORT = 65_535;

  /**
   * Reads them.
   *
   * @param names the fields that they may have
   * @return null if the request has none
   * @throws ApiError naming a field that is wrong
   */
  static @Nullable KvParams of(EngineIdentity engine, AskedCompletion asked, Set<String> names) {
    RequestFields fields = asked.fields().object(NAME);
    if (fields == null) {
      return null;
    }
    fields.requireOnly(names);
    boolean prefill = flag(fields, DO_REMOTE_DECODE);
    boolean decode = flag(fields, DO_REMOTE_PREFILL);
    if (prefill == decode) {
      throw ApiError.invalid(
          NAME + "." + DO_REMOTE_DECODE,
          "exactly one of " + DO_REMOTE_DECODE + " and " + DO_REMOTE_PREFILL + " must be true");
    }
    LegPlan.requireOne(asked);
    engine.url(); // must be known
    if (prefill) {
      engine.requirePrefills(NAME + "." + DO_REMOTE_DECODE);
      requirePrefill(asked);
    } else {
      engine.requireDecodes(NAME + "." + DO_REMOTE_PREFILL);
    }
    ObjectNode json = (ObjectNode) Objects.requireNonNull(asked.fields().get(NAME));
    return new KvParams(json, fields, decode);
  }

  private static boolean flag(RequestFields fields, String name) {
    if (!fields.has(name)) {
      throw fields.missing(name);
    }
    return fields.flag(name, false);
  }

  /** A prefill leg makes one token and is not streamed. */
  private static void requirePrefill(AskedCompletion asked) {
    if (asked.options().maxTokens() != 1) {
      throw ApiError.invalid(
          "max_tokens",
          "max_tokens must be 1 on a prefill leg, not " + asked.options().maxTokens());
    }
    if (asked.streamed() || asked.fields().has("stream_options")) {
      throw ApiError.invalid("stream", "stream must be false on a prefill leg, without options");
    }
  }

  /** Whether all of some fields are there. */
  boolean hasAll(List<String> names) {
    return names.stream().allMatch(fields::has);
  }

  /**
   * A text that is there.
   *
   * @throws ApiError if it is not, or is empty
   */
  String text(String name) {
    String value = fields.text(name);
    if (value == null || value.isEmpty()) {
      throw fields.missing(name);
    }
    return value;
  }

  /**
   * The engine at {@link #HOST} and {@link #PORT}.
   *
   * @throws ApiError if they are no address
   */
  URI engine() {
    int port = fields.integer(PORT, 1, MAX_PORT, 0);
    try {
      return EngineIdentity.address(text(HOST), port);
    } catch (IllegalArgumentException e) {
      throw fields.wrong(HOST, "a host", json.path(HOST));
    }
  }

  /** Checks that fields are null or missing. */
  void requireNone(List<String> names) {
    for (String name : names) {
      JsonNode value = fields.get(name);
      if (value != null) {
        throw fields.wrong(name, "null", value);
      }
    }
  }

  /** Checks that the block ids, if any, are numbers, or lists of them. */
  void checkBlocks() {
    JsonNode groups = fields.array(BLOCK_IDS);
    if (groups == null) {
      return;
    }
    for (JsonNode group : groups) {
      for (JsonNode block : group.isArray() ? group : List.of(group)) {
        if (!block.isIntegralNumber() || block.longValue() < 0) {
          throw fields.wrong(BLOCK_IDS, "block numbers, or lists of them", block);
        }
      }
    }
  }

  /** Checks that sizes, if any, are whole numbers from 1. */
  void checkSizes(List<String> names) {
    names.forEach(name -> fields.integer(name, 1, Integer.MAX_VALUE, 1));
  }
}
