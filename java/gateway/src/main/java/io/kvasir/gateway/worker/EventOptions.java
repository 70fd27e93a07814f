package io.kvasir.gateway.worker;

import java.util.List;

/**
 * Where an operator says that block events come from. Immutable.
 *
 * @param live one pattern for all ranks, or the endpoint of each rank
 * @param replay the same for the endpoints that repeat events; empty if there are none
 * @param topic the beginning of the topics to subscribe to; empty for all
 * @param bind whether the gateway binds the live endpoints
 * @param ranksPerNode ranks of a node; 0 if no pattern names nodes
 */
public record EventOptions(
    List<EndpointPattern> live,
    List<EndpointPattern> replay,
    String topic,
    boolean bind,
    int ranksPerNode) {

  /**
   * Copies the lists and checks the patterns.
   *
   * @throws IllegalArgumentException naming the key that is wrong
   */
  public EventOptions {
    live = List.copyOf(live);
    replay = List.copyOf(replay);
    if (live.isEmpty()) {
      throw new IllegalArgumentException("replay, topic, bind and ranks_per_node need events");
    }
    EndpointPattern.check("events", live, ranksPerNode);
    EndpointPattern.check("replay", replay, ranksPerNode);
  }

  /** {@return the number of ranks that the lists have; 0 if patterns fit any number} */
  int listed() {
    return live.size() > 1 ? live.size() : replay.size() > 1 ? replay.size() : 0;
  }

  /**
   * The endpoints of a worker's ranks.
   *
   * @param ranks the number of ranks, at least 1
   * @param rankOffset the number of the worker's first rank in the whole deployment
   * @return the endpoints
   * @throws IllegalArgumentException naming the rank and the endpoint that is wrong
   */
  public EventEndpoints endpoints(int ranks, int rankOffset) {
    return new EventEndpoints(
        EndpointPattern.endpoints("events", live, ranks, rankOffset, ranksPerNode),
        EndpointPattern.endpoints("replay", replay, ranks, rankOffset, ranksPerNode),
        topic,
        bind);
  }
}
