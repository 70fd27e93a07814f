package io.kvasir.gateway.openai;

import io.kvasir.exchange.EngineFlavor;
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
          ConversationId.CLAUDE_CODE_SESSION,
          "X-Claude-Session-Id",
          EngineFlavor.SESSION_ID,
          "X-Correlation-ID",
          "X-Session-Affinity",
          "X-Multi-Turn-Session-ID",
          "X-Dynamo-Session-ID",
          "X-SMG-Routing-Key",
          "X-AIBrix-Session-Key",
          "session-id", // Codex
          "session_id"); // Codex before 0.131

  /**
   * Headers that name the conversation of a sub-agent's parent; the first that is not blank counts.
   */
  public static final List<String> PARENT_HEADERS =
      List.of("X-TRTLLM-Subagent-Affinity-ID", "X-Dynamo-Parent-Session-ID");

  /** Names a session of Claude Code, which its sub-agents share. */
  private static final String CLAUDE_CODE_SESSION = "X-Claude-Code-Session-Id";

  private static final String CLAUDE_CODE_AGENT = "X-Claude-Code-Agent-Id";
  private static final String CLAUDE_CODE_PARENT = "X-Claude-Code-Parent-Agent-Id";

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
        return header.equals(CLAUDE_CODE_SESSION) ? ofAgent(headers, id, CLAUDE_CODE_AGENT) : id;
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
   * conversation_params.subagent_affinity_id}, or else the first of {@link #PARENT_HEADERS}, or
   * else, of a sub-agent of Claude Code, its session with its parent agent. Blank ones are passed
   * over.
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
    if (id != null && !id.isBlank()) {
      return checked(NestedField.SUBAGENT_AFFINITY_ID.path, id);
    }
    for (String header : PARENT_HEADERS) {
      id = first(headers, header);
      if (id != null) {
        return id;
      }
    }
    String session = first(headers, CLAUDE_CODE_SESSION);
    return session == null || first(headers, CLAUDE_CODE_AGENT) == null
        ? null
        : ofAgent(headers, session, CLAUDE_CODE_PARENT);
  }

  /** The conversation of an agent in a session: the session's own where a header names no agent. */
  private static String ofAgent(Headers headers, String session, String header)
      throws InvalidBodyException {
    String agent = first(headers, header);
    return agent == null ? session : session + "/" + agent;
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
