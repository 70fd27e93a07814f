package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.tokens.Detokenizer;
import io.kvasir.gateway.verify.PromptCheck;
import io.kvasir.gateway.verify.SentPrompts;
import io.kvasir.gateway.verify.TokenDifference;
import io.kvasir.gateway.verify.Witness;
import io.kvasir.gateway.verify.WorkerChecks;
import io.kvasir.hash.BlockHashes;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one attempt proves about its worker: which rank stored the prompt's blocks, and how many of
 * its tokens were cached. Confined to the request's event loop.
 */
final class AttemptEvidence {

  private final EventLoop loop;
  private final FollowedRanks followed;
  private final FleetWorker worker;
  private final WorkerChecks checks;
  private final int pinned;
  private final long predictedTokens;
  private final SentPrompts prompts;
  private final @Nullable PromptCheck prompt;
  private boolean served;

  private AttemptEvidence(
      EventLoop loop,
      FollowedRanks followed,
      FleetWorker worker,
      WorkerChecks checks,
      int pinned,
      long predictedTokens,
      SentPrompts prompts,
      @Nullable PromptCheck prompt) {
    this.loop = loop;
    this.followed = followed;
    this.worker = worker;
    this.checks = checks;
    this.pinned = pinned;
    this.predictedTokens = predictedTokens;
    this.prompts = prompts;
    this.prompt = prompt;
  }

  /**
   * Begins when a request is sent.
   *
   * @param client whose request it is
   * @param pinned the rank that the request names; negative if it names none
   * @param matchedTokens prompt tokens that are expected in the rank's cache
   * @param tokens the prompt's tokens
   * @param hashes the hashes of its blocks
   * @param plain whether the engine can be expected to store the prompt under these hashes
   * @param onStored runs when the prompt's last block is stored; null for nothing
   * @return null if the worker's blocks are not known
   */
  static @Nullable AttemptEvidence begin(
      EventLoop loop,
      FollowedRanks followed,
      FleetWorker worker,
      Witness client,
      int pinned,
      long matchedTokens,
      int[] tokens,
      BlockHashes hashes,
      BooleanSupplier plain,
      @Nullable Runnable onStored) {
    WorkerChecks checks = followed.checks(worker);
    SentPrompts prompts = followed.prompts(worker);
    if (checks == null || prompts == null || tokens.length == 0) {
      return null;
    }
    PromptCheck prompt = prompts.add(client, pinned, tokens, hashes, plain, onStored);
    // The last token of a prompt is always computed.
    long predicted = Math.min(matchedTokens, tokens.length - 1L);
    return new AttemptEvidence(loop, followed, worker, checks, pinned, predicted, prompts, prompt);
  }

  /**
   * The request was served.
   *
   * @param cachedTokens cached tokens by the engine's usage; negative if it reports none
   * @return whether the rank that served it is known
   */
  boolean onServed(long cachedTokens) {
    served = true;
    return checks.onServed(pinned, predictedTokens, cachedTokens);
  }

  /** The attempt is over. */
  void onFinished() {
    PromptCheck sent = prompt;
    if (sent != null) {
      long waitMs = prompts.end(sent);
      if (waitMs >= 0) {
        loop.after(waitMs, () -> conclude(sent));
      }
    }
  }

  private void conclude(PromptCheck sent) {
    if (prompts.conclude(sent, served, () -> followed.isComplete(worker))) {
      describe();
    }
  }

  /** Asks for the texts of the first difference, once. */
  private void describe() {
    TokenDifference difference = checks.undescribed();
    if (difference == null) {
      return;
    }
    Upstream upstream = worker.upstream();
    Detokenizer.ask(
        upstream,
        loop,
        difference.expected(),
        expected ->
            Detokenizer.ask(
                upstream,
                loop,
                difference.stored(),
                stored -> checks.describe(difference, expected, stored)));
  }
}
