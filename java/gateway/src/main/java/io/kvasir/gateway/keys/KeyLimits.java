package io.kvasir.gateway.keys;

import java.util.List;

/**
 * What a key may use. Immutable.
 *
 * @param models the models, as clients name them; empty for all
 * @param requestsPerMinute most requests in any 60 s; 0 for no limit
 * @param tokensPerMinute most tokens of prompts and answers in any 60 s; 0 for no limit
 * @param maxConcurrent most requests at a time; 0 for no limit
 * @param priority class of its requests, which a request can only lower
 */
public record KeyLimits(
    List<String> models,
    long requestsPerMinute,
    long tokensPerMinute,
    int maxConcurrent,
    int priority) {

  /** Everything may be used. */
  public static final KeyLimits NONE = new KeyLimits(List.of(), 0, 0, 0, 0);

  /** Copies the list. */
  public KeyLimits {
    models = List.copyOf(models);
  }

  /**
   * {@return whether a model may be used}
   *
   * @param model its name
   */
  public boolean allows(String model) {
    return models.isEmpty() || models.contains(model);
  }
}
