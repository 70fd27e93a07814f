package io.kvasir.embedded.text;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A prompt and how to continue it. Immutable. */
public final class TextRequest {

  private final int[] prompt;
  private final int maxTokens;
  private final Sampling sampling;

  /**
   * Makes a request.
   *
   * @param prompt the prompt's tokens, at least one; copied
   * @param maxTokens most tokens of the answer, at least 1
   * @param sampling how tokens are chosen
   */
  public TextRequest(int[] prompt, int maxTokens, Sampling sampling) {
    this.prompt = Arrays.copyOf(prompt, prompt.length);
    this.maxTokens = maxTokens;
    this.sampling = sampling;
  }

  /** {@return a copy of the prompt's tokens} */
  public int[] prompt() {
    return Arrays.copyOf(prompt, prompt.length);
  }

  /** {@return most tokens of the answer} */
  public int maxTokens() {
    return maxTokens;
  }

  /** {@return how tokens are chosen} */
  public Sampling sampling() {
    return sampling;
  }

  /**
   * How tokens are chosen. The model decides about values that are null. Immutable.
   *
   * @param temperature 0 chooses the likeliest token
   * @param topP probability of the tokens to choose from, above 0
   * @param topK number of the tokens to choose from; 0 for all
   * @param minP least probability of a token, relative to the likeliest one
   * @param frequencyPenalty penalty for each earlier occurrence of a token
   * @param presencePenalty penalty for tokens that occurred
   * @param seed the seed, from 0 to 2^32 - 1
   * @param ignoreEos whether the answer goes on to its maximum
   * @param stops strings that end the answer and are not part of it
   */
  public record Sampling(
      @Nullable Double temperature,
      @Nullable Double topP,
      @Nullable Integer topK,
      @Nullable Double minP,
      @Nullable Double frequencyPenalty,
      @Nullable Double presencePenalty,
      @Nullable Long seed,
      boolean ignoreEos,
      List<String> stops) {

    /** Copies the stop strings. */
    public Sampling {
      stops = List.copyOf(stops);
    }

    /**
     * These settings for one of several answers to a prompt, so that a seed gives different ones.
     *
     * @param choice the number of the answer, from 0
     * @return the settings
     */
    public Sampling forChoice(int choice) {
      Long moved = seed == null ? null : (seed + choice) & 0xffff_ffffL;
      return new Sampling(
          temperature,
          topP,
          topK,
          minP,
          frequencyPenalty,
          presencePenalty,
          moved,
          ignoreEos,
          stops);
    }
  }
}
