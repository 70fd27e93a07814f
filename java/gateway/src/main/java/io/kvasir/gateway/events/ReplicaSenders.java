package io.kvasir.gateway.events;

import java.util.HashMap;
import java.util.Map;

/**
 * Which endpoint each gateway publishes at, so that nothing that one endpoint sends can stand for
 * the gateway at another, or take the places of all others. A gateway belongs to the endpoint that
 * its first message came from, until it is silent. An endpoint has a share of the places; a gateway
 * that has been started again is another one.
 *
 * <p>Not thread-safe.
 */
final class ReplicaSenders {

  private static final int MIN_SHARE = 2;

  private final int share;
  private final long silentNs;
  private final Map<Long, Sender> senders = new HashMap<>();

  /** Where a gateway publishes, and when its last message came. */
  private record Sender(String endpoint, long seenNs) {}

  /**
   * Begins without gateways.
   *
   * @param places gateways at most
   * @param endpoints among which the places are shared
   * @param silentNs time after which a gateway counts as gone
   */
  ReplicaSenders(int places, int endpoints, long silentNs) {
    this.share = Math.max(MIN_SHARE, places / Math.max(1, endpoints));
    this.silentNs = silentNs;
  }

  /**
   * Whether a message counts.
   *
   * @param routerId the gateway that it names
   * @param endpoint where it came from
   * @param nowNs the time
   */
  boolean takes(long routerId, String endpoint, long nowNs) {
    Sender before = senders.get(routerId);
    if (before == null || !before.endpoint.equals(endpoint)) {
      senders.values().removeIf(sender -> nowNs - sender.seenNs > silentNs);
      long others =
          senders.values().stream().filter(each -> each.endpoint.equals(endpoint)).count();
      if (senders.containsKey(routerId) || others >= share) {
        return false;
      }
    }
    senders.put(routerId, new Sender(endpoint, nowNs));
    return true;
  }
}
