package io.kvasir.gateway.openai;

import io.kvasir.exchange.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds out which conversation a request belongs to. Stateless. */
public final class ConversationId {

  /** Most characters of an id, in UTF-16. */
  public static final int MAX_CHARACTERS = 512;

  /** Headers that name a conversation; the first that is not blank counts. */
  public static final List<String> HEADERS =
      List.of(
          "X-Claude-Code-Session-Id",
          "X-Claude-Session-Id",
          "X-Session-ID",
          "X-Correlation-ID",
          "X-Session-Affinity",
          "X-Multi-Turn-Session-ID",
          "session-id", // Codex
          "session_id"); // Codex before 0.131

  /** Header that names the conversation of a sub-agent's parent. */
  public static final String PARENT_HEADER = "X-TRTLLM-Subagent-Affinity-ID";

  private ConversationId() {}

  /**
   * Finds the id: the body's {@code conversation_params.conversation_id}, or else the first of
   * {@link #HEADERS}, or else the body's {@code prompt_cache_key}, {@code
   * client_metadata.thread_id}, {@code client_metadata.session_id} or the session that Anthropic's
   * clients write into {@code metadata.user_id}. Blank ones are passed over.
   *
   * @param headers the request's headers
   * @param body its body; null if it is not JSON
   * @return the id without blanks around it; null if the request names no conversation
   * @throws InvalidBodyException if the id is longer than {@link #MAX_CHARACTERS} or has control
   *     characters
   */
  public static @Nullable String of(Headers headers, @Nullable BodyScan body)
      throws InvalidBodyException {
    String id = body == null ? null : body.conversationId();
    if (id != null) {
      return checked("conversation_params.conversation_id", id);
    }
    for (String header : HEADERS) {
      id = first(headers, header);
      if (id != null) {
        return id;
      }
    }
    if (body == null) {
      return null;
    }
    id = body.promptCacheKey();
    if (id != null && !id.isBlank()) {
      return checked(BodyField.PROMPT_CACHE_KEY.key(), id);
    }
    id = body.threadId();
    if (id != null && !id.isBlank()) {
      return checked("client_metadata.thread_id", id);
    }
    id = body.sessionId();
    if (id != null && !id.isBlank()) {
      return checked("client_metadata.session_id", id);
    }
    return UserSession.of(body.metadataUserId());
  }

  /**
   * Finds the id of the conversation of a sub-agent's parent: the body's {@code
   * conversation_params.subagent_affinity_id}, or else {@link #PARENT_HEADER}. Blank ones are
   * passed over.
   *
   * @param headers the request's headers
   * @param body its body; null if it is not JSON
   * @return the id without blanks around it; null if the request names no parent
   * @throws InvalidBodyException if the id is longer than {@link #MAX_CHARACTERS} or has control
   *     characters
   */
  static @Nullable String ofParent(Headers headers, @Nullable BodyScan body)
      throws InvalidBodyException {
    String id = body == null ? null : body.subagentAffinityId();
    return id == null || id.isBlank()
        ? first(headers, PARENT_HEADER)
        : checked(NestedField.SUBAGENT_AFFINITY_ID.path, id);
  }

  /** The first value of a header that is not blank. */
  private static @Nullable String first(Headers headers, String header)
      throws InvalidBodyException {
    for (String value : headers.all(header)) {
      if (!value.isBlank()) {
        return checked(header, value);
      }
    }
    return null;
  }

  private static String checked(String field, String value) throws InvalidBodyException {
    String id = value.strip();
    if (id.length() > MAX_CHARACTERS) {
      throw new InvalidBodyException(
          field, field + " must have at most " + MAX_CHARACTERS + " characters");
    }
    if (id.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidBodyException(field, field + " must not have control characters");
    }
    return id;
  }
}
