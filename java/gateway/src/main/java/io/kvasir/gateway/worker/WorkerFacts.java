package io.kvasir.gateway.worker;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an engine says about itself. Immutable.
 *
 * @param version its version as it writes it; null if unknown
 * @param blockSize tokens of a KV block; 0 if unknown
 * @param kvBlocks KV blocks of each rank, of the smallest if they differ; 0 if unknown
 * @param ranks data-parallel ranks behind its URL; 0 if unknown
 * @param firstRank the number of the first of them in the whole deployment; -1 if unknown
 * @param events where block events come from; null if unknown
 * @param partlyAnnounced whether it has windows or recurrent layers that its block events leave
 *     out, so that it may reuse less than they say
 * @param disagg the part of requests that it serves; null if unknown
 * @param adapters the LoRA adapters and their base models, by the names that requests use
 */
public record WorkerFacts(
    @Nullable String version,
    int blockSize,
    long kvBlocks,
    int ranks,
    int firstRank,
    @Nullable EventEndpoints events,
    boolean partlyAnnounced,
    @Nullable DisaggFacts disagg,
    Map<String, String> adapters) {

  /** Nothing is known. */
  public static final WorkerFacts NONE =
      new WorkerFacts(null, 0, 0, 0, -1, null, false, null, Map.of());

  /** Copies the map. */
  public WorkerFacts {
    adapters = Map.copyOf(adapters);
  }

  /**
   * {@return these facts with other adapters}
   *
   * @param now the base models of adapters
   */
  public WorkerFacts withAdapters(Map<String, String> now) {
    return new WorkerFacts(
        version, blockSize, kvBlocks, ranks, firstRank, events, partlyAnnounced, disagg, now);
  }
}
