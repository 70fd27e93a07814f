package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.hash.TrtllmHash;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Keeps each conversation on its server; new ones go where the least content is in flight.
 *
 * <p>Thread-safe. A choice costs O(servers), and for a request that names no conversation also
 * O(characters) to hash its prompt and O(servers x log blocks + blocks) to compare it. Bounded by
 * {@code max_sessions} and by {@link #MAX_BLOCKS}; both forget the conversation used least.
 */
public final class ConversationRouter extends LoadKeepingRouter<SessionHost> {

  /*
   * A request that names its conversation goes where that lives, whatever the load; if it lives
   * nowhere or on the excluded server, it falls back and lives there from now on.
   *
   * A request that names none is cut into blocks, whose keys are chained, so that a key names a
   * whole beginning. Of all conversations that share a beginning with it, the one that shares most
   * (the latest of several) is taken to be its own, if that is at least the threshold's share of
   * the request's blocks. It then remembers the request's blocks instead of its own. Otherwise the
   * request falls back and starts a conversation of a made-up name.
   *
   * Falling back takes the server with the least content in flight; equal ones take turns. Content
   * is counted in tokens: blocks x tokens per block, or an estimate where nothing was hashed.
   */

  /** Blocks that all remembered conversations may have together. */
  public static final long MAX_BLOCKS = 1L << 23;

  /** Characters that are taken for one token. */
  static final int CHARS_PER_TOKEN = 5;

  private static final long[] NO_KEYS = {};

  private final ConversationRouterOptions options;
  private final Tokenizer tokenizer;
  private final SessionTable sessions;
  private long madeUp;

  /**
   * Makes a router.
   *
   * @param servers the servers it begins with
   * @param options settings
   * @param tokenizer makes tokens of texts if the options ask for it
   */
  public ConversationRouter(
      List<String> servers, ConversationRouterOptions options, Tokenizer tokenizer) {
    this(servers, options, tokenizer, MAX_BLOCKS);
  }

  ConversationRouter(
      List<String> servers,
      ConversationRouterOptions options,
      Tokenizer tokenizer,
      long maxBlocks) {
    this.options = options;
    this.tokenizer = tokenizer;
    this.sessions = new SessionTable(options.maxSessions(), maxBlocks);
    servers.forEach(this::addServer);
  }

  @Override
  public String name() {
    return ServeRouterKind.CONVERSATION.id();
  }

  @Override
  public ServeChoice next(ServeRequest request, String excluded) {
    Content content = content(request);
    synchronized (lock()) {
      List<SessionHost> candidates = candidates(excluded);
      String id = request.conversationId();
      Session session = id != null ? sessions.use(id) : mostAlike(candidates, content.keys());
      boolean firstTurn = id != null && session == null;
      ServeReason reason = id != null ? ServeReason.STICKY : ServeReason.IMPLICIT;
      if (session == null || session.host().name().equals(excluded)) {
        reason = ServeReason.FALLBACK;
        SessionHost host = cheapest(candidates, Server::load);
        session = new Session(id != null ? id : makeUpId(), host);
        sessions.put(session);
      }
      if (reason != ServeReason.STICKY) {
        sessions.remember(session, content.keys());
      }
      Explanation explanation =
          new Explanation(reason, firstTurn, session.id(), Map.of(), 0, content.tokens());
      return take(session.host(), content.weight(), null, explanation);
    }
  }

  @Override
  SessionHost newServer(String name) {
    return new SessionHost(name);
  }

  @Override
  void onRemoved(SessionHost server) {
    sessions.removeOf(server);
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

  /** Different beginnings that a server's conversations have. */
  int nodeCount(String server) {
    synchronized (lock()) {
      return server(server).index().nodes();
    }
  }

  private String makeUpId() {
    madeUp++;
    return "conv_id:" + options.disaggNodeId() + "_" + madeUp;
  }

  private Session mostAlike(List<SessionHost> candidates, long[] keys) {
    Session best = null;
    int deepest = 0;
    for (SessionHost host : candidates) {
      int depth = host.index().depth(keys);
      if (depth > 0 && depth >= deepest) {
        Session session = host.index().latest(keys[depth - 1]);
        if (depth > deepest || session.lastUse() > best.lastUse()) {
          best = session;
          deepest = depth;
        }
      }
    }
    return best != null && (double) deepest / keys.length >= options.matchThreshold() ? best : null;
  }

  /** What a request weighs, its keys if it names no conversation, and its tokens where known. */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  private record Content(long weight, long[] keys, List<int[]> tokens) {}

  private Content content(ServeRequest request) {
    boolean named = request.conversationId() != null;
    boolean tokenised =
        request.promptTokenIds() != null
            || request.prompt() instanceof Prompt.Tokens
            || (options.useTokenIds() && !named);
    List<int[]> tokens = tokenised ? tokenizer.tokensOf(request) : List.of();
    String text = tokenised ? "" : request.prompt().text();
    int perToken = tokenised ? 1 : CHARS_PER_TOKEN;
    long length =
        tokenised
            ? tokens.stream().mapToLong(sequence -> sequence.length).sum()
            : text.codePointCount(0, text.length());
    long[] keys = NO_KEYS;
    if (!named) {
      int[] elements = tokenised ? concatenated(tokens) : text.codePoints().toArray();
      int from = (int) Math.min((long) options.hashSkipCount() * perToken, elements.length);
      int[] compared = from == 0 ? elements : Arrays.copyOfRange(elements, from, elements.length);
      keys = TrtllmHash.V1_BLOCK_KEY.keys(compared, options.tokensPerBlock(), request.scope());
    }
    long weight =
        keys.length > 0
            ? (long) keys.length * options.tokensPerBlock()
            : Math.max(length / perToken, 1);
    return new Content(weight, keys, tokens);
  }

  private static int[] concatenated(List<int[]> sequences) {
    if (sequences.size() == 1) {
      return sequences.get(0);
    }
    return sequences.stream().flatMapToInt(Arrays::stream).toArray();
  }
}
