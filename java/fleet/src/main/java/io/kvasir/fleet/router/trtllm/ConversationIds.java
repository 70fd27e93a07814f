package io.kvasir.fleet.router.trtllm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which conversation an HTTP request belongs to.
 *
 * <p>In this order: the body's {@code conversation_params.conversation_id}; the first header of
 * {@link #HEADERS} that is not blank, after a configured header for the parent session if there is
 * one; the body's {@code prompt_cache_key}, {@code client_metadata.thread_id} and {@code
 * client_metadata.session_id}. Ids are trimmed. The body is only read.
 *
 * <p>Immutable and thread-safe.
 */
public final class ConversationIds {

  /** Headers that name a session, the most telling first; upper and lower case do not matter. */
  public static final List<String> HEADERS =
      List.of(
          "X-Claude-Code-Session-Id",
          "X-Claude-Session-Id",
          "X-Session-ID",
          "X-Correlation-ID",
          "X-Session-Affinity",
          "X-Multi-Turn-Session-ID");

  private final List<String> headers;

  /**
   * Makes a resolver.
   *
   * @param parentHeader a header that goes before all others, for example {@code
   *     X-Dynamo-Parent-Session-ID}, or null
   */
  public ConversationIds(@Nullable String parentHeader) {
    List<String> all = new ArrayList<>(HEADERS);
    if (parentHeader != null) {
      all.add(0, parentHeader);
    }
    this.headers = List.copyOf(all);
  }

  /**
   * Finds a request's conversation. O(headers).
   *
   * @param body the body's fields as a JSON parser gives them
   * @param requestHeaders the headers by name; the first value of each
   * @return the trimmed id, or null if the request names none
   * @throws IllegalArgumentException if {@code conversation_params} is there without an id that is
   *     a text and not blank
   */
  public @Nullable String resolve(Map<String, ?> body, Map<String, String> requestHeaders) {
    if (body.get("conversation_params") != null) {
      Object params = body.get("conversation_params");
      String id = params instanceof Map<?, ?> map ? text(map.get("conversation_id")) : null;
      if (id == null) {
        throw new IllegalArgumentException(
            "conversation_params.conversation_id must be a text that is not blank");
      }
      return id;
    }
    for (String header : headers) {
      for (Map.Entry<String, String> entry : requestHeaders.entrySet()) {
        String id = header.equalsIgnoreCase(entry.getKey()) ? text(entry.getValue()) : null;
        if (id != null) {
          return id;
        }
      }
    }
    String id = text(body.get("prompt_cache_key"));
    if (body.get("client_metadata") instanceof Map<?, ?> metadata) {
      id = id != null ? id : text(metadata.get("thread_id"));
      id = id != null ? id : text(metadata.get("session_id"));
    }
    return id;
  }

  private static @Nullable String text(@Nullable Object value) {
    return value instanceof String text && !text.isBlank() ? text.strip() : null;
  }
}
