package io.kvasir.gateway.worker;

import java.util.ArrayList;
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
    check("events", live, ranksPerNode);
    check("replay", replay, ranksPerNode);
  }

  private static void check(String key, List<EndpointPattern> patterns, int ranksPerNode) {
    for (EndpointPattern pattern : patterns) {
      if (patterns.size() > 1 && pattern.hasPlaceholders()) {
        throw new IllegalArgumentException(
            key + " must be one pattern or a list of endpoints, not a list of patterns");
      }
      if (pattern.namesNodes() && ranksPerNode == 0) {
        throw new IllegalArgumentException(
            key + " has {n} or {l}, which need ranks_per_node: the ranks of each node");
      }
    }
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
        endpoints("events", live, ranks, rankOffset),
        endpoints("replay", replay, ranks, rankOffset),
        topic,
        bind);
  }

  private List<String> endpoints(
      String key, List<EndpointPattern> patterns, int ranks, int rankOffset) {
    if (patterns.size() > 1 && patterns.size() != ranks) {
      throw new IllegalArgumentException(
          key
              + " must have an endpoint for each of the "
              + ranks
              + " ranks, not "
              + patterns.size());
    }
    List<String> endpoints = new ArrayList<>();
    for (int rank = 0; rank < ranks && !patterns.isEmpty(); rank++) {
      endpoints.add(
          patterns.size() > 1
              ? patterns.get(rank).text()
              : patterns.get(0).endpoint(rankOffset + rank, Math.max(1, ranksPerNode)));
    }
    return endpoints;
  }
}
