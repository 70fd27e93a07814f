package io.kvasir.benchmarks.proxy;

import java.util.List;

/** How the servers are started that show what exact routing costs. */
public interface MatchingCommands {

  /**
   * A stand-in for an engine, which publishes the blocks of its {@link #RANKS} ranks.
   *
   * @param port its port, on 127.0.0.1
   * @param eventsPort port of the first rank's events
   * @param replayPort port of the first rank's replay
   * @return the program and its arguments
   */
  List<String> publisher(int port, int eventsPort, int replayPort);

  /**
   * A gateway that follows these blocks, and sends requests to another engine.
   *
   * @param port the port for clients, on 127.0.0.1
   * @param adminPort the port for operators, on 127.0.0.1
   * @param enginePort the port of the engine, on 127.0.0.1
   * @param eventsPort port of the first rank's events
   * @param replayPort port of the first rank's replay
   * @return the program and its arguments
   */
  List<String> gateway(int port, int adminPort, int enginePort, int eventsPort, int replayPort);

  /** Ranks whose blocks are followed. */
  int RANKS = 2;
}
