package io.kvasir.fleet.router.trtllm;

import java.util.List;

/**
 * Takes the servers one after the other.
 *
 * <p>Thread-safe. O(servers) a choice. Load is the number of requests; it decides nothing here.
 */
public final class RoundRobinRouter extends LoadKeepingRouter<Server> {

  /**
   * Makes a router.
   *
   * @param servers the servers it begins with
   */
  public RoundRobinRouter(List<String> servers) {
    servers.forEach(this::addServer);
  }

  @Override
  public String name() {
    return ServeRouterKind.ROUND_ROBIN.id();
  }

  @Override
  Server newServer(String name) {
    return new Server(name);
  }

  @Override
  public ServeChoice next(ServeRequest request, String excluded) {
    synchronized (lock()) {
      candidates(excluded); // refuses before a turn is taken
      List<Server> all = all();
      Server server = all.get((int) (takeTurn() % all.size()));
      if (server.name().equals(excluded)) {
        server = all.get((int) (takeTurn() % all.size()));
      }
      return take(server, 1, null, Explanation.of(ServeReason.ROUND_ROBIN));
    }
  }
}
