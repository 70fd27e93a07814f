package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.Worker;
import io.kvasir.fleet.router.WorkerRouter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each conversation on its worker; new ones go where the least content is in flight.
 *
 * <p>Thread-safe. A choice costs O(workers), and for a request that names no conversation also
 * O(characters) to hash its prompt and O(workers x log blocks + blocks) to compare it. Bounded by
 * {@code max_sessions} and by {@link #MAX_BLOCKS}; at either bound, the least recently used
 * conversation goes.
 */
public final class ConversationFleetRouter extends WorkerRouter<SessionHost> {

  /*
   * A request that names its conversation, or a sub-agent's that names its parent's, goes to the
   * conversation's worker, whatever the load. If
   * there is none, or it is excluded, the request falls back, and its worker becomes the
   * conversation's.
   *
   * A request that names none is cut into blocks, whose keys are chained, so that a key identifies a
   * whole prefix. Of all conversations that share a prefix with it, the one that shares most (the
   * latest of several) is taken to be its own, if the shared part reaches the threshold. The
   * conversation then remembers the request's blocks instead of its own. Otherwise the request
   * falls back and starts a conversation with a made-up id.
   *
   * Falling back takes the worker with the least content in flight; equal ones take turns. Content
   * is counted in tokens: blocks x tokens per block, or an estimate where nothing was hashed.
   */

  /** Blocks that all remembered conversations may have together. */
  public static final long MAX_BLOCKS = 1L << 23;

  /** Name of the policy. */
  static final String NAME = "conversation";

  /** Characters that count as one token. */
  static final int CHARS_PER_TOKEN = 5;

  private static final long[] NO_KEYS = {};

  private final ConversationRouterOptions options;
  private final SessionTable sessions;
  private long madeUp;

  /**
   * Makes a router without workers.
   *
   * @param options settings
   */
  public ConversationFleetRouter(ConversationRouterOptions options) {
    this(options, MAX_BLOCKS);
  }

  ConversationFleetRouter(ConversationRouterOptions options, long maxBlocks) {
    this.options = options;
    this.sessions = new SessionTable(options.maxSessions(), maxBlocks);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return comparesTokens(request) && request.tokens() == null;
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    boolean tokenised = comparesTokens(request);
    List<int[]> tokens = tokenised ? request.tokens() : null;
    if (tokenised && tokens == null) {
      return new RouteOutcome.Refused(
          Refusal.UNSUPPORTED_REQUEST,
          "conversation with use_token_ids needs the tokens of a prompt without a conversation id");
    }
    Content content = content(request, tokens);
    RankFilter filter = request.filter();
    synchronized (lock()) {
      List<SessionHost> candidates = candidates(filter);
      if (candidates.isEmpty()) {
        return noCandidate(filter);
      }
      String id = request.affinityId();
      Session session = id != null ? sessions.use(id) : mostAlike(candidates, content.keys());
      boolean firstTurn = id != null && session == null;
      Reason reason = id != null ? Reason.STICKY : Reason.IMPLICIT;
      if (session == null || !session.host().isAllowedBy(filter)) {
        reason = Reason.FALLBACK;
        SessionHost host = cheapest(filter, candidates, Worker::load);
        session = new Session(id != null ? id : makeUpId(), host);
        sessions.put(session);
      }
      if (reason != Reason.STICKY) {
        sessions.remember(session, content.keys());
      }
      SessionHost host = session.host();
      return new RouteOutcome.Placed(
          new Placement(
              book(host, content.weight(), null),
              host.id(),
              reasonFor(request, reason),
              Objects.requireNonNullElse(request.conversationId(), session.id()),
              firstTurn,
              0,
              0,
              candidates.size(),
              0,
              Double.NaN,
              Map.of(),
              List.of()));
    }
  }

  @Override
  protected SessionHost newWorker(long workerId) {
    return new SessionHost(workerId);
  }

  @Override
  protected void onRemoved(SessionHost host) {
    sessions.removeOf(host);
  }

  /** Conversations remembered. */
  int sessionCount() {
    synchronized (lock()) {
      return sessions.size();
    }
  }

  /** Blocks remembered, one per conversation that has it. */
  long blockCount() {
    synchronized (lock()) {
      return sessions.blocks();
    }
  }

  /** Different prefixes of a worker's conversations; 0 if the worker is unknown. */
  int nodeCount(long workerId) {
    synchronized (lock()) {
      SessionHost host = worker(workerId);
      return host == null ? 0 : host.index().nodes();
    }
  }

  private String makeUpId() {
    madeUp++;
    return "conv_id:" + options.disaggNodeId() + "_" + madeUp;
  }

  private @Nullable Session mostAlike(List<SessionHost> candidates, long[] keys) {
    Session best = null;
    int deepest = 0;
    for (SessionHost host : candidates) {
      int depth = host.index().depth(keys);
      if (depth > 0 && depth >= deepest) {
        Session session = host.index().latest(keys[depth - 1]);
        if (best == null || depth > deepest || session.lastUse() > best.lastUse()) {
          best = session;
          deepest = depth;
        }
      }
    }
    return best != null && (double) deepest / keys.length >= options.matchThreshold() ? best : null;
  }

  /** A request's weight, and its keys if it names no conversation. */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  private record Content(long weight, long[] keys) {}

  /** Whether a request is weighed by tokens, not by its text, whether or not it has tokens. */
  private boolean comparesTokens(FleetRequest request) {
    return request.promptTokenIds() != null
        || request.promptSource().form() == PromptSource.Form.TOKENS
        || (options.useTokenIds() && request.affinityId() == null);
  }

  private Content content(FleetRequest request, @Nullable List<int[]> tokens) {
    int perToken = tokens != null ? 1 : CHARS_PER_TOKEN;
    if (request.affinityId() != null) {
      long length = tokens != null ? size(tokens) : characters(request.promptSource());
      return new Content(Math.max(length / perToken, 1), NO_KEYS);
    }
    StreamedBlockKeys streamed =
        new StreamedBlockKeys(
            options.tokensPerBlock(), (long) options.hashSkipCount() * perToken, request.scope());
    if (tokens != null) {
      tokens.forEach(streamed::acceptAll);
    } else {
      request.promptSource().forEachCodePoint(streamed);
    }
    long[] keys = streamed.keys();
    long weight =
        keys.length > 0
            ? (long) keys.length * options.tokensPerBlock()
            : Math.max(streamed.length() / perToken, 1);
    return new Content(weight, keys);
  }

  private static long size(List<int[]> tokens) {
    return tokens.stream().mapToLong(sequence -> sequence.length).sum();
  }

  private static long characters(PromptSource prompt) {
    Counter counter = new Counter();
    prompt.forEachCodePoint(counter);
    return counter.characters;
  }

  /** Counts characters. */
  private static final class Counter implements IntConsumer {
    private long characters;

    @Override
    public void accept(int character) {
      characters++;
    }
  }
}
