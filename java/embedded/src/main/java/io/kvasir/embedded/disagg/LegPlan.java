package io.kvasir.embedded.disagg;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.GenerationOptions;
import org.jspecify.annotations.Nullable;

/**
 * What a leg is to do. Immutable.
 *
 * @param asked what is to be answered
 * @param arrival KV that comes before; null if none does
 * @param departure KV that is left behind; null if none is
 */
record LegPlan(
    AskedCompletion asked, @Nullable KvArrival arrival, @Nullable KvDeparture departure) {

  /**
   * Checks that a leg has one prompt and one choice.
   *
   * @throws ApiError naming the field that has more
   */
  static void requireOne(AskedCompletion asked) {
    if (asked.prompts().size() != 1) {
      throw ApiError.unsupported(
          asked.promptField(),
          asked.promptField() + " must be one prompt if its KV moves between engines");
    }
    if (asked.options().choices() != 1) {
      throw ApiError.unsupported("n", "n must be 1 if KV moves between engines");
    }
  }

  /** The same request with other options. */
  static AskedCompletion with(AskedCompletion asked, GenerationOptions options) {
    return new AskedCompletion(
        asked.fields(), asked.promptField(), asked.format(), asked.prompts(), options);
  }
}
