package io.kvasir.gateway.events;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses of the hosts that publish events. They are looked up on a thread of their own, so
 * that a slow name server delays no event, and again every few seconds, because a restarted engine
 * may have another address.
 *
 * <p>Thread-safe. No method waits.
 */
final class HostNames implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(HostNames.class);
  private static final String SCHEME = "tcp://";
  private static final long REFRESH_NS = TimeUnit.SECONDS.toNanos(5);

  private final Map<String, Host> hosts = new ConcurrentHashMap<>();
  private final ExecutorService lookups =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "kvasir-names");
            thread.setDaemon(true);
            return thread;
          });

  /** What is known of a host. */
  private static final class Host {
    volatile @Nullable String address;
    volatile boolean asked;
    volatile boolean failed;

    /** Confined to the caller's thread. */
    long askedNs;
  }

  /**
   * An endpoint with the host's address in place of its name.
   *
   * @param endpoint {@code tcp://HOST:PORT}; called with it by one thread only
   * @param nowNs the time
   * @return null while the address is unknown
   */
  @Nullable String resolve(String endpoint, long nowNs) {
    int colon = endpoint.lastIndexOf(':');
    String name = endpoint.substring(SCHEME.length(), colon);
    if (isAddress(name)) {
      return endpoint;
    }
    Host host = hosts.computeIfAbsent(name, unknown -> new Host());
    if (!host.asked && (host.askedNs == 0 || nowNs - host.askedNs >= REFRESH_NS)) {
      host.askedNs = nowNs;
      host.asked = true;
      lookups.execute(() -> lookUp(name, host));
    }
    String address = host.address;
    return address == null ? null : SCHEME + address + endpoint.substring(colon);
  }

  private static boolean isAddress(String name) {
    return name.startsWith("[") || name.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
  }

  private static void lookUp(String name, Host host) {
    try {
      List<String> addresses =
          Arrays.stream(InetAddress.getAllByName(name)).map(HostNames::text).toList();
      String before = host.address;
      if (before == null || !addresses.contains(before)) {
        host.address = addresses.get(0);
        LOG.info("events of {} come from {}", name, addresses.get(0));
      }
      host.failed = false;
    } catch (UnknownHostException e) {
      if (!host.failed) {
        host.failed = true;
        LOG.warn("host {} of block events is unknown; it is looked up again and again", name);
      }
    } finally {
      host.asked = false;
    }
  }

  private static String text(InetAddress address) {
    String text = address.getHostAddress();
    return text.contains(":") ? "[" + text + "]" : text;
  }

  /** Stops looking up. */
  @Override
  public void close() {
    lookups.shutdownNow();
  }
}
