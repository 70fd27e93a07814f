package io.kvasir.gateway.tokens;

import io.kvasir.gateway.route.InexactCause;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a request's prompts, or an estimate of their number. Immutable by contract: the
 * arrays are not copied and must not be changed.
 *
 * @param ids the tokens of each prompt; null if only their number is estimated
 * @param count the number of all tokens
 * @param missing why only their number is estimated; null if they are known
 * @param maker what made the tokens, and when; null if the request had them itself, has several
 *     prompts, or they are estimated
 */
public record PromptTokens(
    @Nullable List<int[]> ids,
    int count,
    @Nullable InexactCause missing,
    @Nullable MakerLife maker) {

  private static final int BYTES_PER_TOKEN = 4;

  /** Copies the list, not the arrays. */
  public PromptTokens {
    ids = ids == null ? null : List.copyOf(ids);
  }

  /**
   * {@return the tokens that a request has}
   *
   * @param ids the tokens of each prompt; the arrays are not copied
   */
  static PromptTokens given(List<int[]> ids) {
    return exact(ids, null);
  }

  /**
   * {@return tokens that workers or renderers have made}
   *
   * @param made the tokens of each prompt
   */
  static PromptTokens made(List<MadeTokens> made) {
    List<int[]> ids = made.stream().map(MadeTokens::ids).toList();
    return exact(ids, made.size() == 1 ? made.get(0).maker() : null);
  }

  private static PromptTokens exact(List<int[]> ids, @Nullable MakerLife maker) {
    long count = ids.stream().mapToLong(each -> each.length).sum();
    return new PromptTokens(ids, (int) Math.min(count, Integer.MAX_VALUE), null, maker);
  }

  /**
   * {@return an estimate, which is good for load but matches nothing}
   *
   * @param promptBytes size of the prompt in bytes
   * @param missing why the tokens are not known
   */
  static PromptTokens estimate(int promptBytes, InexactCause missing) {
    int count = (promptBytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
    return new PromptTokens(null, count, missing, null);
  }
}
