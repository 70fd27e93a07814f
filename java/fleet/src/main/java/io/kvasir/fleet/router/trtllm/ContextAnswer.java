package io.kvasir.fleet.router.trtllm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a context server answered.
 *
 * <p>Immutable by contract: the token array is not copied and must not be changed by anyone.
 *
 * @param choices its choices; a good answer has one
 * @param promptTokenIds the prompt's tokens, or null if it does not contain them
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record ContextAnswer(List<Choice> choices, int @Nullable [] promptTokenIds) {

  /** Copies the list. */
  public ContextAnswer {
    choices = List.copyOf(choices);
  }

  /**
   * One choice.
   *
   * @param finishReason why the context server stopped, for example {@code length}
   * @param params what the generation server needs, or null
   */
  public record Choice(String finishReason, @Nullable DisaggParams params) {}
}
