package io.kvasir.benchmarks.proxy;

import java.util.List;

/** How the servers are started that show what exact routing and two legs cost. */
public interface KvasirCommands {

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

  /**
   * A gateway that has one engine compute prompts and another one answer.
   *
   * @param port the port for clients, on 127.0.0.1
   * @param adminPort the port for operators, on 127.0.0.1
   * @param prefillPort the port of the engine that computes prompts, on 127.0.0.1
   * @param decodePort the port of the one that answers, on 127.0.0.1
   * @return the program and its arguments
   */
  List<String> twoLegs(int port, int adminPort, int prefillPort, int decodePort);

  /** Ranks whose blocks are followed. */
  int RANKS = 2;
}
