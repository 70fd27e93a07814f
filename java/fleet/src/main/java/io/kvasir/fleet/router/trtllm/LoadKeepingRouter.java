package io.kvasir.fleet.router.trtllm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the routers share: the servers in the order they came, the load of each, whose turn it is
 * among equals, and the lock that guards all of it.
 *
 * @param <S> what a router keeps of a server
 */
abstract class LoadKeepingRouter<S extends Server> implements ServeRouter {

  private static final Logger LOG = LoggerFactory.getLogger(LoadKeepingRouter.class);

  /** Guards everything below, the servers' fields and what a router adds. */
  private final Object lock = new Object();

  private final Map<String, S> servers = new LinkedHashMap<>();
  private long turn;

  /** An empty router; a subclass adds the first servers when it is ready to make them. */
  LoadKeepingRouter() {}

  /** Makes what is kept of a server; called under the lock. */
  abstract S newServer(String name);

  final Object lock() {
    return lock;
  }

  @Override
  public final boolean addServer(String server) {
    if (server == null || server.isBlank()) {
      throw new IllegalArgumentException("server must have a name, not '" + server + "'");
    }
    synchronized (lock) {
      if (servers.containsKey(server)) {
        LOG.warn("server {} is known already", server);
        return false;
      }
      servers.put(server, newServer(server));
      return true;
    }
  }

  @Override
  public final boolean removeServer(String server) {
    synchronized (lock) {
      S removed = servers.remove(server);
      if (removed == null) {
        LOG.warn("server {} is not known, nothing to remove", server);
        return false;
      }
      onRemoved(removed);
      return true;
    }
  }

  @Override
  public final List<String> servers() {
    synchronized (lock) {
      return List.copyOf(servers.keySet());
    }
  }

  @Override
  public final long load(String server) {
    synchronized (lock) {
      S known = servers.get(server);
      return known == null ? 0 : known.load();
    }
  }

  @Override
  public final void finish(ServeChoice choice, boolean success) {
    synchronized (lock) {
      if (!choice.end(this)) {
        return;
      }
      choice.entry().removeLoad(choice.weight());
      onFinished(choice, success);
    }
    afterFinished(choice);
  }

  /** Forgets a server; called under the lock. */
  void onRemoved(S server) {}

  /** Learns from a request that has ended; called under the lock. */
  void onFinished(ServeChoice choice, boolean success) {}

  /** Does what must not be done under the lock. */
  void afterFinished(ServeChoice choice) {}

  /** The server of a name, or null. Under the lock. */
  final S server(String name) {
    return servers.get(name);
  }

  /** Every server, oldest first. Under the lock. */
  final List<S> all() {
    return List.copyOf(servers.values());
  }

  /** Whether a server is still the one of its name. Under the lock. */
  final boolean isCurrent(Server server) {
    return servers.get(server.name()) == server;
  }

  /** The servers but the excluded one, at least one, oldest first. Under the lock. */
  final List<S> candidates(String excluded) {
    if (servers.isEmpty()) {
      throw new NoServerException("no server is available");
    }
    List<S> candidates = new ArrayList<>(servers.values());
    candidates.removeIf(server -> server.name().equals(excluded));
    if (candidates.isEmpty()) {
      throw new NoServerException("the only server, " + excluded + ", is excluded");
    }
    return candidates;
  }

  /** Counts one more choice; the number of choices before it. Under the lock. */
  final long takeTurn() {
    return turn++;
  }

  /** The candidate of the lowest cost; equal ones take turns. Under the lock. */
  final S cheapest(List<S> candidates, ToDoubleFunction<? super S> cost) {
    List<S> tied = new ArrayList<>();
    double lowest = 0;
    for (S server : candidates) {
      double value = cost.applyAsDouble(server);
      if (tied.isEmpty() || value < lowest) {
        tied.clear();
        tied.add(server);
        lowest = value;
      } else if (value == lowest) {
        tied.add(server);
      }
    }
    return tied.get((int) (takeTurn() % tied.size()));
  }

  /** Puts a request's weight on a server. Under the lock. */
  final ServeChoice take(S server, long weight, PromptKeys keys, Explanation explanation) {
    server.addLoad(weight);
    return new ServeChoice(this, server, weight, keys, explanation);
  }
}
