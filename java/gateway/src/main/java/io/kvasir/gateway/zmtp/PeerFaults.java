package io.kvasir.gateway.zmtp;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines of the log about peers that break the protocol or a bound: one a minute for an
 * endpoint, and one in all for each peer with a version that is not spoken here. Not thread-safe.
 */
final class PeerFaults {

  private static final Logger LOG = LoggerFactory.getLogger(PeerFaults.class);
  private static final long WARN_NS = TimeUnit.MINUTES.toNanos(1);

  /** Peers and endpoints that are remembered. */
  private static final int MOST = 1_024;

  private final Set<String> versions = new HashSet<>();
  private final Map<String, Long> warnedNs = new HashMap<>();

  /**
   * Logs a fault, unless it was logged recently.
   *
   * @param endpoint where the peer is or connected to
   * @param peer its address
   * @param cause what it has done
   * @param nowNs the time
   */
  void log(String endpoint, String peer, ZmtpException cause, long nowNs) {
    if (isNew(endpoint, peer, cause, nowNs)) {
      LOG.warn("{}: the peer {} {}; the connection is dropped", endpoint, peer, cause.getMessage());
    }
  }

  private boolean isNew(String endpoint, String peer, ZmtpException cause, long nowNs) {
    if (cause instanceof ZmtpVersionException) {
      String line = endpoint + ' ' + peer + ' ' + cause.getMessage();
      if (versions.contains(line)) {
        return false;
      }
      if (versions.size() < MOST) {
        return versions.add(line);
      }
    }
    Long before = warnedNs.get(endpoint);
    if (before != null && nowNs - before < WARN_NS) {
      return false;
    }
    if (warnedNs.size() >= MOST) {
      warnedNs.clear();
    }
    warnedNs.put(endpoint, nowNs);
    return true;
  }
}
