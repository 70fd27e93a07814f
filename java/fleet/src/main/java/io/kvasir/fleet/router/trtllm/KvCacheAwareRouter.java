package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.TrtllmHash;
import java.io.IOException;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the server that holds most of a request's blocks, load considered.
 *
 * <p>Thread-safe. A choice costs O(tokens) to hash the prompt, without the lock, and O(servers x
 * matched blocks) to compare it. Bounded: {@link #MAX_BLOCKS} blocks a server and way of naming
 * them, {@link #MAX_PINS} pinned beginnings, {@code max_sessions} conversations.
 */
public final class KvCacheAwareRouter extends LoadKeepingRouter<CachingServer> {

  /*
   * score(server) = matched blocks - load weight x active requests; the highest wins, equal ones
   * take turns. Servers at or above the load cap are left out as long as others are not.
   *
   * A chat goes where the last one with the same first two messages went, if that server may be
   * chosen at all; otherwise the score decides and the beginning is pinned anew.
   *
   * What a server holds is known from its events and from what it has served. Where events cannot
   * be had or believed, the second alone must do: never nothing, or routing would silently decay to
   * the least loaded server. Both are advisory, and blocks are not checked against their parents: a
   * wrong entry costs a detour, not a wrong answer.
   *
   * Tokens are made and hashed before the lock is taken, in every way of naming that some server
   * used at that time; a server that changes its way in between matches nothing this once.
   */

  /** Blocks remembered of a server. */
  public static final int MAX_BLOCKS = 1 << 20;

  /** Beginnings of chats whose server is remembered. */
  public static final int MAX_PINS = 50_000;

  private static final Logger LOG = LoggerFactory.getLogger(KvCacheAwareRouter.class);

  private final KvCacheAwareRouterOptions options;
  private final ServePorts ports;
  private final int maxBlocks;
  private final RecentMap<Long, CachingServer> pins = new RecentMap<>(MAX_PINS);
  private final RecentMap<String, Boolean> seen;
  private int tokensPerBlock;
  private boolean closed;

  /**
   * Makes a router.
   *
   * @param servers the servers it begins with
   * @param options settings
   * @param ports makes tokens, fetches events after each request, runs the fetching
   */
  public KvCacheAwareRouter(
      List<String> servers, KvCacheAwareRouterOptions options, ServePorts ports) {
    this(servers, options, ports, MAX_BLOCKS);
  }

  KvCacheAwareRouter(
      List<String> servers, KvCacheAwareRouterOptions options, ServePorts ports, int maxBlocks) {
    this.options = options;
    this.ports = ports;
    this.maxBlocks = maxBlocks;
    this.seen = new RecentMap<>(options.maxSessions());
    this.tokensPerBlock = options.tokensPerBlock();
    servers.forEach(this::addServer);
  }

  @Override
  public String name() {
    return ServeRouterKind.KV_CACHE_AWARE.id();
  }

  @Override
  CachingServer newServer(String name) {
    CachingServer server = new CachingServer(name, maxBlocks);
    if (ports.events() != null) {
      server.pollBy(new CoalescedPoll(ports.polls(), () -> fetchEvents(server)));
    }
    return server;
  }

  @Override
  public ServeChoice next(ServeRequest request, String excluded) {
    int blockSize;
    Set<TrtllmHash> hashes = EnumSet.noneOf(TrtllmHash.class);
    synchronized (lock()) {
      candidates(excluded).forEach(server -> hashes.add(server.blocks().hash()));
      blockSize = blockSize();
    }
    List<int[]> tokens = ports.tokenizer().tokensOf(request);
    PromptKeys keys = PromptKeys.of(tokens, blockSize, request.scope(), hashes);
    Long beginning = AffinityKey.of(request);
    synchronized (lock()) {
      List<CachingServer> known = candidates(excluded);
      Map<String, Long> matches = new LinkedHashMap<>();
      for (CachingServer server : known) {
        matches.put(server.name(), server.blocks().matchedBlocks(keys) * blockSize);
      }
      List<CachingServer> candidates = belowCap(known);
      CachingServer server = beginning == null ? null : pins.get(beginning);
      ServeReason reason = ServeReason.PINNED;
      if (server == null || !candidates.contains(server)) {
        reason = ServeReason.SCORE;
        server = cheapest(candidates, one -> -score(one, matches.get(one.name()) / blockSize));
      }
      if (beginning != null) {
        pins.put(beginning, server);
      }
      String id = request.conversationId();
      boolean firstTurn = id != null && seen.put(id, true) == null;
      long matched = matches.get(server.name());
      return take(
          server, 1, keys, new Explanation(reason, firstTurn, id, matches, matched, tokens));
    }
  }

  private double score(CachingServer server, long matchedBlocks) {
    return matchedBlocks - options.loadWeight() * server.load();
  }

  private List<CachingServer> belowCap(List<CachingServer> servers) {
    List<CachingServer> below =
        servers.stream()
            .filter(one -> (double) one.load() / options.maxBatchSize() < options.loadCap())
            .toList();
    return below.isEmpty() ? servers : below;
  }

  /**
   * Takes over how a server cuts and names blocks. A block size that was not configured is adopted
   * from the first server that tells one. A server whose size divides, or is divided by, the
   * router's stays usable by what it was sent alone: its events are not believed from now on.
   *
   * @param server the server's name
   * @param description what it says of itself; missing parts are taken to agree, with a warning for
   *     the names
   * @throws IllegalStateException if its blocks cannot be followed. The server stays, unready: it
   *     is chosen by load and by what it was sent, its events are not believed
   * @throws IllegalArgumentException if the server is unknown, or its block size is below 1
   */
  public void prepare(String server, ServerDescription description) {
    synchronized (lock()) {
      CachingServer known = require(server);
      known.prepared(false, false);
      Preparation agreed = Preparation.of(server, description, tokensPerBlock);
      tokensPerBlock = agreed.tokensPerBlock();
      known.blocks().nameBy(agreed.hash());
      known.prepared(true, agreed.believesEvents());
    }
  }

  /**
   * Takes note of a server's events. O(blocks).
   *
   * @param server the server's name
   * @param events what {@link CacheEvents} read
   * @return false if they are not believed, see {@link #prepare}
   * @throws IllegalArgumentException if the server is unknown, or an event gives local hashes or a
   *     naming that is not TensorRT-LLM's
   */
  public boolean onEvents(String server, List<BlockEvent> events) {
    synchronized (lock()) {
      return apply(require(server), events);
    }
  }

  private static boolean apply(CachingServer server, List<BlockEvent> events) {
    if (!server.usesEvents()) {
      return false;
    }
    events.forEach(server.blocks()::apply);
    return true;
  }

  @Override
  void onFinished(ServeChoice choice, boolean success) {
    CachingServer server = (CachingServer) choice.entry();
    PromptKeys keys = choice.keys();
    boolean known = isCurrent(server) && keys.tokensPerBlock() == blockSize();
    if (success && options.trackRoutedBlocks() && known) {
      TrtllmHash hash = server.blocks().hash();
      keys.of(hash).forEach(prompt -> server.blocks().add(hash, prompt));
    }
  }

  @Override
  void afterFinished(ServeChoice choice) {
    CachingServer server = (CachingServer) choice.entry();
    synchronized (lock()) {
      if (closed || server.poll() == null || !server.usesEvents() || !isCurrent(server)) {
        return;
      }
    }
    try {
      server.poll().request();
    } catch (RuntimeException e) {
      LOG.warn("events of {} cannot be fetched", server.name(), e);
    }
  }

  private void fetchEvents(CachingServer server) {
    List<BlockEvent> events = List.of();
    Exception failure = null;
    try {
      events = ports.events().poll(server.name());
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
    boolean changed;
    synchronized (lock()) {
      changed = server.notePoll(failure != null);
      if (isCurrent(server)) {
        apply(server, events);
      }
    }
    if (changed && failure != null) {
      LOG.warn("{} does not tell its events; only what it was sent counts", server.name(), failure);
    } else if (changed) {
      LOG.info("{} tells its events again", server.name());
    }
  }

  @Override
  void onRemoved(CachingServer server) {
    if (server.poll() != null) {
      server.poll().cancel();
    }
  }

  @Override
  public void close() {
    synchronized (lock()) {
      closed = true;
      all().forEach(this::onRemoved);
    }
  }

  /** Whether a server's blocks can be followed, see {@link #prepare}. */
  boolean ready(String server) {
    synchronized (lock()) {
      return require(server).ready();
    }
  }

  /** Blocks that a server is thought to hold. */
  long blockCount(String server) {
    synchronized (lock()) {
      return require(server).blocks().size();
    }
  }

  private int blockSize() {
    return tokensPerBlock == 0
        ? KvCacheAwareRouterOptions.DEFAULT_TOKENS_PER_BLOCK
        : tokensPerBlock;
  }

  private CachingServer require(String server) {
    CachingServer known = server(server);
    if (known == null) {
      throw new IllegalArgumentException("server " + server + " is unknown");
    }
    return known;
  }
}
