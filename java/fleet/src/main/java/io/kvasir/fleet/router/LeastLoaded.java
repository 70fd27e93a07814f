package io.kvasir.fleet.router;

import io.kvasir.fleet.router.RouteOutcome.Refused;
import java.util.List;

/**
 * Takes the worker with the least load: requests, or the size of their prompts. Equal ones take
 * turns.
 *
 * <p>Thread-safe. O(workers) a choice, and O(characters) by prompt size.
 */
public final class LeastLoaded extends WorkerRouter<Worker> {

  /** Name of the policy. */
  static final String NAME = "load_balancing";

  private final boolean useTokens;

  /**
   * Makes a router without workers.
   *
   * @param useTokens whether load is the size of prompts: tokens, or characters of a text
   */
  public LeastLoaded(boolean useTokens) {
    this.useTokens = useTokens;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  protected Worker newWorker(long workerId) {
    return new Worker(workerId);
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    if (useTokens && request.generationOnly()) {
      return new Refused(
          Refusal.UNSUPPORTED_REQUEST,
          "load_balancing with use_tokens cannot weigh a generation_only request");
    }
    if (useTokens && request.prompt() instanceof Prompt.Chat) {
      return new Refused(
          Refusal.UNSUPPORTED_REQUEST,
          "load_balancing with use_tokens cannot weigh a chat request: prompt must be text or"
              + " tokens");
    }
    long weight = useTokens ? size(request.prompt()) : 1;
    RankFilter filter = request.filter();
    synchronized (lock()) {
      List<Worker> candidates = candidates(filter);
      if (candidates.isEmpty()) {
        return noCandidate(filter);
      }
      Worker worker = cheapest(filter, candidates, Worker::load);
      return placed(request, worker, weight, Reason.LOAD, candidates.size());
    }
  }

  private static long size(Prompt prompt) {
    return prompt instanceof Prompt.Tokens tokens
        ? tokens.sequences().stream().mapToLong(sequence -> sequence.length).sum()
        : ((Prompt.Texts) prompt)
            .texts().stream().mapToLong(text -> text.codePointCount(0, text.length())).sum();
  }
}
