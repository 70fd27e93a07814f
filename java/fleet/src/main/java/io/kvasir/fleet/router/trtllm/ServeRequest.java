package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.model.CacheScope;
import java.util.Objects;

/**
 * What a serve router sees of a request.
 *
 * <p>Immutable by contract: the token array is not copied and must not be changed by anyone.
 *
 * @param prompt the prompt as the client sent it
 * @param promptTokenIds the prompt's tokens where somebody has made them already, or null; routers
 *     prefer them to the prompt
 * @param conversationId the conversation, as {@link ConversationIds} found it, or null; blank is
 *     null
 * @param scope LoRA adapter and salt
 * @param generationOnly whether the context was computed elsewhere
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record ServeRequest(
    Prompt prompt,
    int[] promptTokenIds,
    String conversationId,
    CacheScope scope,
    boolean generationOnly) {

  /** Checks that nothing is missing. */
  public ServeRequest {
    Objects.requireNonNull(prompt, "prompt");
    Objects.requireNonNull(scope, "scope");
    conversationId = conversationId == null || conversationId.isBlank() ? null : conversationId;
  }

  /**
   * A request of a prompt alone.
   *
   * @param prompt the prompt
   * @return the request, without a conversation, adapter or salt
   */
  public static ServeRequest of(Prompt prompt) {
    return new ServeRequest(prompt, null, null, CacheScope.NONE, false);
  }

  /**
   * This request in a conversation.
   *
   * @param id the conversation, or null
   * @return the request
   */
  public ServeRequest withConversation(String id) {
    return new ServeRequest(prompt, promptTokenIds, id, scope, generationOnly);
  }

  /**
   * This request with a LoRA adapter and a salt.
   *
   * @param value the scope
   * @return the request
   */
  public ServeRequest withScope(CacheScope value) {
    return new ServeRequest(prompt, promptTokenIds, conversationId, value, generationOnly);
  }

  /**
   * This request, tokenised.
   *
   * @param tokens the prompt's tokens; not copied
   * @return the request
   */
  public ServeRequest withTokenIds(int[] tokens) {
    return new ServeRequest(prompt, tokens, conversationId, scope, generationOnly);
  }

  /**
   * This request as the generation part of one whose context was computed elsewhere.
   *
   * @return the request
   */
  public ServeRequest asGenerationOnly() {
    return new ServeRequest(prompt, promptTokenIds, conversationId, scope, true);
  }
}
