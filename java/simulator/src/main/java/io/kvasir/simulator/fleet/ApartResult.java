package io.kvasir.simulator.fleet;

import java.util.Map;

/**
 * What became of requests whose prompts and answers are computed by different workers.
 *
 * <p>Immutable.
 *
 * @param settings the workers
 * @param decode decisions of the router of the decode workers
 * @param local requests that a decode worker served whole, by reason
 * @param transfers number of transfers of KV
 * @param transferNs time from a computed prompt to the end of its transfer, summed
 * @param longestTransferNs the longest such time
 * @param movedTokens tokens whose KV was moved
 * @param neededTokens tokens of the prompts whose KV was needed by decode workers
 */
public record ApartResult(
    ApartSettings settings,
    FleetResult decode,
    Map<String, Long> local,
    long transfers,
    long transferNs,
    long longestTransferNs,
    long movedTokens,
    long neededTokens) {

  private static final double NS_PER_MS = 1e6;

  /** {@return the requests that a decode worker served whole, at least 0} */
  public long localRequests() {
    return local.values().stream().mapToLong(Long::longValue).sum();
  }

  /** {@return the share of those among all placed requests, 0 to 1} */
  public double localShare() {
    return (double) localRequests() / (localRequests() + transfers);
  }

  /** {@return the mean time of a transfer in milliseconds; NaN if there was none} */
  public double meanTransferMs() {
    return transferNs / NS_PER_MS / transfers;
  }

  /** {@return the longest time of a transfer in milliseconds, at least 0} */
  public double longestTransferMs() {
    return longestTransferNs / NS_PER_MS;
  }
}
