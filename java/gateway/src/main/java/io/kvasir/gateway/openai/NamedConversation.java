package io.kvasir.gateway.openai;

import io.kvasir.exchange.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The conversation that a request names. Immutable.
 *
 * @param id the conversation's id; null if it names none
 * @param subagentAffinityId the id of the conversation whose rank it should go to, where it is one
 *     of a sub-agent; null if it names none
 */
public record NamedConversation(@Nullable String id, @Nullable String subagentAffinityId) {

  /** No conversation. */
  public static final NamedConversation NONE = new NamedConversation(null, null);

  /**
   * Finds the conversation.
   *
   * @param headers the request's headers
   * @param body its body; null if it is not JSON
   * @return the conversation, with ids as {@link ConversationId} finds them
   * @throws InvalidBodyException if an id is too long or has control characters
   */
  public static NamedConversation of(Headers headers, @Nullable BodyScan body)
      throws InvalidBodyException {
    return new NamedConversation(
        ConversationId.of(headers, body), ConversationId.ofParent(headers, body));
  }
}
