package io.kvasir.benchmarks.proxy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What nginx and the gateway are compared by. */
public enum ProxyMetric {
  /** CPU time of the whole process for each streamed chunk. */
  CPU_PER_CHUNK("cpuUsPerChunk", "CPU us a chunk", 1, false),
  /** What the proxy adds to the median time of a chunk. */
  ADDED_TO_CHUNK("addedChunkUs", "added to a chunk, p50 us", 0, true),
  /** What the proxy adds to the median time to first byte. */
  ADDED_TO_FIRST_BYTE("addedFirstByteUs", "added to first byte, p50 us", 0, true),
  /** What the proxy adds to the slowest hundredth of the times to first byte. */
  ADDED_TO_FIRST_BYTE_P99("addedFirstByteP99Us", "added to first byte, p99 us", 0, true),
  /** CPU time of the whole process for each stream of ten chunks. */
  CPU_PER_STREAM("cpuUsPerStream", "CPU us a stream of 10 chunks", 1, false),
  /** Short requests per second at saturation. */
  REQUESTS_PER_SECOND("requestsPerSecond", "requests/s at saturation", 0, false),
  /** CPU time of the whole process for each short request at saturation. */
  CPU_PER_REQUEST("cpuUsPerRequest", "CPU us a request at saturation", 1, false);

  private final String id;
  private final String label;
  private final int decimals;
  private final boolean addedToDirect;

  ProxyMetric(String id, String label, int decimals, boolean addedToDirect) {
    this.id = id;
    this.label = label;
    this.decimals = decimals;
    this.addedToDirect = addedToDirect;
  }

  /** {@return the name in JSON} */
  public String id() {
    return id;
  }

  /** {@return the name for people, with its unit} */
  public String label() {
    return label;
  }

  /** {@return how many decimals people see} */
  int decimals() {
    return decimals;
  }

  /** {@return the bar for the ratio of the gateway to nginx} */
  ProxyBar bar() {
    return switch (this) {
      case CPU_PER_CHUNK -> new ProxyBar("at most 3.5 (goal 2)", 0, 3.5, true);
      case ADDED_TO_FIRST_BYTE -> new ProxyBar("at most 2 (goal)", 0, 2, false);
      case REQUESTS_PER_SECOND -> new ProxyBar("at least 0.5", 0.5, Double.MAX_VALUE, true);
      default -> ProxyBar.NONE;
    };
  }

  /**
   * The values of a proxy.
   *
   * @param rounds all rounds
   * @param proxy nginx or a gateway
   * @return the values of all rounds; without the engine's own share of the same round
   */
  RoundSpread ofProxy(List<ProxyRound> rounds, ToProxy proxy) {
    return RoundSpread.of(rounds.stream().map(round -> value(round, proxy)).toList());
  }

  /** The values of the engine without a proxy. */
  RoundSpread direct(List<ProxyRound> rounds) {
    return RoundSpread.of(rounds.stream().map(round -> figure(round.direct())).toList());
  }

  /** The gateway's values divided by nginx's, by round; undefined if nginx adds nothing. */
  RoundSpread ratio(List<ProxyRound> rounds) {
    return ratio(rounds, ProxyRound::gateway, ProxyRound::nginx);
  }

  /** A server's values divided by another's, by round; undefined where that adds nothing. */
  RoundSpread ratio(List<ProxyRound> rounds, ToProxy server, ToProxy than) {
    return RoundSpread.of(rounds.stream().map(round -> ratio(round, server, than)).toList());
  }

  private double ratio(ProxyRound round, ToProxy server, ToProxy than) {
    double divisor = value(round, than);
    return divisor > 0 ? value(round, server) / divisor : Double.NaN;
  }

  /** What a server has more than another, by round; undefined where one was not measured. */
  RoundSpread more(List<ProxyRound> rounds, ToProxy server, ToProxy than) {
    return RoundSpread.of(
        rounds.stream().map(round -> value(round, server) - value(round, than)).toList());
  }

  private double figure(@Nullable ServerFigures figures) {
    if (figures == null) {
      return Double.NaN;
    }
    return switch (this) {
      case CPU_PER_CHUNK -> figures.cpuUsPerChunk();
      case ADDED_TO_CHUNK -> figures.chunkUs();
      case ADDED_TO_FIRST_BYTE -> figures.firstByteUs();
      case ADDED_TO_FIRST_BYTE_P99 -> figures.firstByteP99Us();
      case CPU_PER_STREAM -> figures.cpuUsPerStream();
      case REQUESTS_PER_SECOND -> figures.requestsPerSecond();
      case CPU_PER_REQUEST -> figures.cpuUsPerRequest();
    };
  }

  private double value(ProxyRound round, ToProxy proxy) {
    double value = figure(proxy.of(round));
    return addedToDirect ? value - figure(round.direct()) : value;
  }

  /** Chooses a proxy of a round. */
  @FunctionalInterface
  interface ToProxy {
    @Nullable ServerFigures of(ProxyRound round);
  }
}
