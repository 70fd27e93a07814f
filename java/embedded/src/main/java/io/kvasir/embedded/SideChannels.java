package io.kvasir.embedded;

import io.kvasir.model.Checks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A port for each rank of an engine, at which other engines fetch the rank's KV, as with NIXL's
 * side channel: the port of rank 0, and the ones that follow.
 *
 * <p>Thread-safe.
 */
public final class SideChannels implements AutoCloseable {

  private final int port;
  private final List<EngineServer> servers;

  private SideChannels(int port, List<EngineServer> servers) {
    this.port = port;
    this.servers = List.copyOf(servers);
  }

  /**
   * Opens the ports, and lets the engine's replies name them.
   *
   * @param engine the engine; stays open when they are closed
   * @param host the address to listen on
   * @param port the port of rank 0, at least 1
   * @return the ports; the caller closes them
   * @throws IOException if one of them cannot be opened; none stays open
   * @throws IllegalArgumentException if the port is less than 1, or the last one is none
   */
  public static SideChannels open(EmbeddedEngine engine, String host, int port) throws IOException {
    int ranks = engine.settings().ranks();
    Checks.atLeast("port", port, 1);
    List<EngineServer> servers = new ArrayList<>();
    try {
      for (int rank = 0; rank < ranks; rank++) {
        servers.add(EngineServer.start(engine.sideChannel(rank), host, port + rank, 1));
      }
    } catch (IOException | RuntimeException e) {
      servers.forEach(EngineServer::close);
      throw e;
    }
    engine.namesSideChannels(port);
    return new SideChannels(port, servers);
  }

  /** {@return the port of rank 0} */
  public int port() {
    return port;
  }

  /** Closes the ports. */
  @Override
  public void close() {
    servers.forEach(EngineServer::close);
  }
}
