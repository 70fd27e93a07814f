package io.kvasir.fleet.router;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadMessage;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the rank that serves a request, one request at a time, and accounts for the load that its
 * choices cause. This is the port of every policy in front of engines that Kvasir does not run; a
 * {@link FleetRouterProvider} makes one by name.
 *
 * <p>Each placement is an <i>attempt</i> with a number that is never reused, so a late message
 * about a failed attempt cannot affect its retry. The caller reports what happens to an attempt and
 * ends it exactly once with {@link #onFinished}.
 *
 * <p>Thread-safe, and no call blocks for longer than the router's own lock. Equal histories of
 * calls give equal answers: the only clock is the injected one, and randomness is seeded by request
 * ids. Expected refusals are values.
 */
public interface FleetRouter extends AutoCloseable {

  /** {@return the policy's name in options, reports and metrics, for example {@code cost}} */
  String name();

  /**
   * Whether {@link #route} needs the tokens of a request whose prompt is text. The caller tokenises
   * before it routes, because a router has no tokenizer.
   *
   * @param request the request, with or without tokens
   * @return false if its text, or its arrival alone, is enough
   */
  default boolean readsTokens(FleetRequest request) {
    return false;
  }

  /**
   * Chooses a rank and books the request there. O(ranks), and O(tokens) where prompts are hashed,
   * without the lock.
   *
   * @param request the request
   * @return the placement, a wait for one, or why there is none
   */
  RouteOutcome route(FleetRequest request);

  /**
   * Chooses a rank as {@link #route} would now, and books nothing.
   *
   * @param request the request
   * @return a placement with attempt 0 and the costs of all candidates, or why there is none; null
   *     for policies whose choices cannot be repeated without effect
   */
  default @Nullable RouteOutcome preview(FleetRequest request) {
    return null;
  }

  /**
   * Output tokens have streamed. The first of them ends the attempt's prefill.
   *
   * @param attempt the attempt
   * @param tokens number of tokens, at least 1
   * @return false if the attempt is not in flight
   * @throws IllegalArgumentException if {@code tokens} is below 1
   */
  boolean onTokens(long attempt, int tokens);

  /**
   * The prompt of an attempt has been computed.
   *
   * @param attempt the attempt
   * @return false if the attempt is not in flight
   */
  boolean onPrefillDone(long attempt);

  /**
   * An attempt is still being served, though nothing of it may have come yet. Policies that count
   * load end an attempt that shows no sign of life for {@link
   * io.kvasir.fleet.load.ActiveSequencesOptions#staleAfterNs} (five minutes); this call, {@link
   * #onTokens} and {@link #onPrefillDone} are such signs. A caller that has a list of its live
   * requests reports them at intervals, each minute for example. O(1).
   *
   * @param attempt the attempt
   * @return false if the attempt is not in flight, or the policy ends none
   */
  default boolean onAlive(long attempt) {
    return false;
  }

  /**
   * An engine has said how many tokens of an attempt's prompt it took from its cache. To be called
   * before {@link #onFinished}, and only where the prompt's tokens and the rank that served it are
   * known. Policies that do not compare matches with hits ignore it.
   *
   * @param attempt the attempt; ignored if it is not in flight
   * @param cachedTokens cached tokens by the engine's usage; negative if it reports none
   */
  default void onServed(long attempt, int cachedTokens) {}

  /**
   * {@return what a worker's engine reuses of the blocks that it holds, as far as {@link #onServed}
   * has shown}
   *
   * @param workerId the worker
   */
  default HitCorrection correction(long workerId) {
    return HitCorrection.NONE;
  }

  /**
   * An attempt has ended. Repeated calls have no effect.
   *
   * @param attempt the attempt
   * @param success whether the request was served
   * @return false if the attempt is not in flight
   */
  boolean onFinished(long attempt, boolean success);

  /**
   * Adds a rank behind the others, or changes the description of a known one.
   *
   * @param rank the rank
   * @param capacity what is known of the rank and its engine
   * @return false if the rank was known
   */
  boolean addRank(RankId rank, RankCapacity capacity);

  /**
   * Removes a rank with everything known of it. Its attempts end; their numbers stay unknown from
   * then on. Waiting requests that no other rank may serve are refused.
   *
   * @param rank the rank
   * @return false if the rank is unknown
   */
  boolean removeRank(RankId rank);

  /**
   * A rank's cache has changed. Policies that do not follow blocks ignore it.
   *
   * @param rank the rank; {@link RankId#anyOf} where the engine reports for a whole worker
   * @param event the change
   */
  default void onBlocks(RankId rank, BlockEvent event) {}

  /**
   * {@return the index that requests are matched against, for callers that order and repair event
   * streams before they change it; null for policies that keep none}. Closed with the router.
   */
  default @Nullable PrefixIndex index() {
    return null;
  }

  /**
   * An engine has reported its metrics. Policies that predict load ignore them.
   *
   * @param rank the rank
   * @param metrics its metrics from now on
   */
  default void onMetrics(RankId rank, EngineMetrics metrics) {}

  /**
   * An engine has reported a step. Policies without a model of time ignore it.
   *
   * @param rank the rank; ignored if it is unknown
   * @param pass the step
   */
  default void onForwardPass(RankId rank, ForwardPass pass) {}

  /**
   * Reads the load that this router has placed. O(ranks).
   *
   * @param out receives one entry for each rank, in ascending order; policies that choose workers
   *     give one entry for each worker, under {@link RankId#anyOf}
   */
  void loads(PredictedLoads out);

  /**
   * Reports placements to other routers in front of the same ranks from now on, and counts theirs.
   * To be called once.
   *
   * @param routerId number of this router, drawn at random at each start
   * @param out receives what this router places, under its lock: it must be quick and must not wait
   * @return books what others have placed; null for policies that place by their own counts only
   */
  default @Nullable LoadExchange exchangeLoads(long routerId, Consumer<LoadMessage> out) {
    return null;
  }

  /** Releases what the router owns. Idempotent. */
  @Override
  default void close() {}
}
