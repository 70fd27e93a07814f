package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.model.Errors;
import io.kvasir.model.Request;
import java.math.BigInteger;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What accompanies the two parts of a request on their way through context and generation servers
 * to a rank. The names on the wire are TensorRT-LLM's.
 *
 * <p>Immutable.
 *
 * @param requestType which part this is; null for a whole request
 * @param contextRequestId the context server's id of the request, or null
 * @param disaggRequestId the id that both parts share, or null
 * @param conversationId the conversation, or null
 * @param firstTurn whether the request is known to start it
 * @param others further fields, sent on unchanged
 */
public record DisaggParams(
    @Nullable RequestType requestType,
    @Nullable Long contextRequestId,
    @Nullable Long disaggRequestId,
    @Nullable String conversationId,
    boolean firstTurn,
    Map<String, Object> others) {

  /** The parameters of an unknown request. */
  public static final DisaggParams NONE = new DisaggParams(null, null, null, null, false, Map.of());

  /** The part of a request that a server is to compute. */
  public enum RequestType {
    /** The prompt only. */
    CONTEXT_ONLY,
    /** The answer, from a prompt computed elsewhere. */
    GENERATION_ONLY,
    /** Both. */
    CONTEXT_AND_GENERATION;

    /** {@return the name on the wire, for example {@code context_only}} */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Keeps the order of the other fields. */
  public DisaggParams {
    others = Collections.unmodifiableMap(new LinkedHashMap<>(others));
  }

  /**
   * These parameters for one part of the request.
   *
   * @param type the part
   * @return the parameters
   */
  public DisaggParams as(RequestType type) {
    return new DisaggParams(
        type, contextRequestId, disaggRequestId, conversationId, firstTurn, others);
  }

  /**
   * These parameters with the conversation that the fleet router found. The client's own id
   * precedes one that the router made up. A router that keeps no conversations changes nothing but
   * the client's id.
   *
   * @param request the request
   * @param known its first placement
   * @return the parameters
   */
  public DisaggParams withConversation(FleetRequest request, Placement known) {
    String id = request.conversationId();
    if (id == null) {
      id = known.conversationId() == null ? conversationId : known.conversationId();
    }
    boolean first = known.conversationId() == null ? firstTurn : known.firstTurn();
    return new DisaggParams(requestType, contextRequestId, disaggRequestId, id, first, others);
  }

  /** {@return a new map of the fields as they travel; what is not set is left out} */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>(others);
    put(map, "request_type", requestType == null ? null : requestType.id());
    put(map, "ctx_request_id", unsigned(contextRequestId));
    put(map, "disagg_request_id", unsigned(disaggRequestId));
    put(map, "conversation_id", conversationId);
    put(map, "is_first_turn", firstTurn ? Boolean.TRUE : null);
    return map;
  }

  /**
   * Reads fields as they travel.
   *
   * @param map the fields as a JSON parser gives them; not changed
   * @return the parameters
   * @throws IllegalArgumentException naming the field that is of a wrong type and what is allowed
   */
  public static DisaggParams fromMap(Map<String, ?> map) {
    Map<String, Object> others = new LinkedHashMap<>(map);
    String type = take(others, "request_type", String.class);
    Number context = take(others, "ctx_request_id", Number.class);
    Number shared = take(others, "disagg_request_id", Number.class);
    String conversation = take(others, "conversation_id", String.class);
    Boolean first = take(others, "is_first_turn", Boolean.class);
    return new DisaggParams(
        type == null ? null : typeNamed(type),
        id("ctx_request_id", context),
        id("disagg_request_id", shared),
        conversation,
        first != null && first,
        others);
  }

  /**
   * What a rank's request says of its conversation: the way back of {@link #applyTo}.
   *
   * @param request the request as the rank sees it
   * @return parameters with its conversation, and nothing else
   */
  public static DisaggParams of(Request request) {
    return new DisaggParams(
        null, null, null, request.conversationId(), request.firstTurn(), Map.of());
  }

  /**
   * Sets the conversation's fields in the request for the rank.
   *
   * @param request the request as the rank will see it
   * @return the same builder
   */
  public Request.Builder applyTo(Request.Builder request) {
    return request.conversationId(conversationId).firstTurn(firstTurn);
  }

  /** The bits of an id, which is an unsigned integer of 64 bits. */
  private static @Nullable Long id(String key, @Nullable Number value) {
    if (value == null) {
      return null;
    }
    boolean isInteger =
        value instanceof Long || value instanceof Integer || value instanceof BigInteger;
    BigInteger exact = isInteger ? new BigInteger(value.toString()) : BigInteger.ONE.negate();
    if (exact.signum() >= 0 && exact.bitLength() <= Long.SIZE) {
      return exact.longValue();
    }
    throw new IllegalArgumentException(key + " must be an integer of 0 to 2^64 - 1, not " + value);
  }

  private static @Nullable Number unsigned(@Nullable Long id) {
    return id == null || id >= 0 ? id : (Number) new BigInteger(Long.toUnsignedString(id));
  }

  private static RequestType typeNamed(String id) {
    for (RequestType type : RequestType.values()) {
      if (type.id().equals(id)) {
        return type;
      }
    }
    throw new IllegalArgumentException(
        "request_type must be context_only, generation_only or context_and_generation, not '"
            + id
            + "'");
  }

  private static void put(Map<String, Object> map, String key, @Nullable Object value) {
    if (value != null) {
      map.put(key, value);
    }
  }

  private static <T> @Nullable T take(Map<String, Object> map, String key, Class<T> type) {
    Object value = map.remove(key);
    if (value != null && !type.isInstance(value)) {
      throw new IllegalArgumentException(
          key + " must be a " + type.getSimpleName() + ", not '" + Errors.shown(value) + "'");
    }
    return type.cast(value);
  }
}
