package io.kvasir.gateway.worker;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway assumes of a worker: what its operator states, and where nothing is stated, what
 * its engine says. Immutable.
 *
 * @param version the engine's version; null if unknown
 * @param ranks data-parallel ranks behind its URL, at least 1
 * @param rankOffset the number of the first of them in the whole deployment, which events carry
 * @param balancing how ranks share URLs
 * @param blockSize tokens of a KV block; 0 if unknown
 * @param kvBlocks KV blocks of each rank; 0 if unknown
 * @param events where block events come from; null if unknown
 * @param partlyAnnounced whether it may reuse less than its block events say
 * @param bootstrapPort the port of its bootstrap server; without meaning for role both
 * @param forwardPasses where each rank publishes the metrics of its steps; empty if unknown
 * @param problems where statement and engine contradict each other, in words
 */
public record WorkerProfile(
    @Nullable EngineVersion version,
    int ranks,
    int rankOffset,
    LoadBalancing balancing,
    int blockSize,
    long kvBlocks,
    @Nullable EventEndpoints events,
    boolean partlyAnnounced,
    int bootstrapPort,
    List<String> forwardPasses,
    List<String> problems) {

  /** Copies the lists. */
  public WorkerProfile {
    forwardPasses = List.copyOf(forwardPasses);
    problems = List.copyOf(problems);
  }

  /**
   * Combines both sources.
   *
   * @param spec what the operator states
   * @param facts what the engine says
   * @return the profile
   */
  public static WorkerProfile of(WorkerSpec spec, WorkerFacts facts) {
    List<String> problems = new ArrayList<>();
    int ranks =
        spec.isInProcess() ? 1 : stated("ranks", spec.ranks(), facts.ranks(), 1, 1, problems);
    int offset = stated("rank_offset", spec.rankOffset(), facts.firstRank(), 0, 0, problems);
    int blockSize = stated("block_size", spec.blockSize(), facts.blockSize(), 1, 0, problems);
    LoadBalancing balancing = spec.balancing();
    if (balancing == null) {
      LoadBalancing ofNodes = ranks > 1 ? LoadBalancing.HYBRID : LoadBalancing.EXTERNAL;
      balancing = offset > 0 ? ofNodes : LoadBalancing.INTERNAL;
    }
    return new WorkerProfile(
        EngineVersion.parse(facts.version()),
        ranks,
        offset,
        balancing,
        blockSize,
        facts.kvBlocks(),
        events(spec, facts, ranks, offset, problems),
        facts.partlyAnnounced(),
        bootstrapPort(spec.disagg(), facts.disagg(), problems),
        forwardPasses(spec, ranks, offset, problems),
        problems);
  }

  /**
   * {@return this profile with another block size}
   *
   * @param tokens tokens of a KV block
   */
  public WorkerProfile withBlockSize(int tokens) {
    return new WorkerProfile(
        version,
        ranks,
        rankOffset,
        balancing,
        tokens,
        kvBlocks,
        events,
        partlyAnnounced,
        bootstrapPort,
        forwardPasses,
        problems);
  }

  private static int bootstrapPort(
      DisaggSpec stated, @Nullable DisaggFacts found, List<String> problems) {
    if (found == null) {
      return stated.bootstrapPort();
    }
    if (found.role() != stated.role()) {
      problems.add("role is " + stated.role().id() + ", but the engine says " + found.role().id());
    }
    int port = stated.statedBootstrapPort();
    if (port > 0 && found.bootstrapPort() > 0 && port != found.bootstrapPort()) {
      problems.add(
          "bootstrap_port is stated as " + port + ", but the engine says " + found.bootstrapPort());
    }
    return port == 0 && found.bootstrapPort() > 0 ? found.bootstrapPort() : stated.bootstrapPort();
  }

  private static int stated(
      String key, int stated, int found, int minimum, int otherwise, List<String> problems) {
    if (stated < minimum) {
      return found < minimum ? otherwise : found;
    }
    if (found >= minimum && found != stated) {
      problems.add(key + " is stated as " + stated + ", but the engine says " + found);
    }
    return stated;
  }

  private static List<String> forwardPasses(
      WorkerSpec spec, int ranks, int offset, List<String> problems) {
    try {
      return spec.forwardPasses(ranks, offset);
    } catch (IllegalArgumentException e) {
      problems.add("the stated endpoints do not fit its ranks: " + e.getMessage());
      return List.of();
    }
  }

  private static @Nullable EventEndpoints events(
      WorkerSpec spec, WorkerFacts facts, int ranks, int offset, List<String> problems) {
    EventEndpoints found = facts.events();
    EventOptions options = spec.events();
    if (options == null) {
      if (found != null && found.ranks() != ranks) {
        problems.add(
            "the engine names event endpoints of " + found.ranks() + " ranks instead of " + ranks);
        return null;
      }
      return found;
    }
    try {
      EventEndpoints stated = options.endpoints(ranks, offset);
      if (found != null && !found.topic().startsWith(stated.topic())) {
        problems.add("topic is stated as " + stated.topic() + ", not as " + found.topic());
      }
      return stated;
    } catch (IllegalArgumentException e) {
      problems.add("the stated event endpoints do not fit its ranks: " + e.getMessage());
      return null;
    }
  }
}
