package io.kvasir.cli.option;

import io.kvasir.gateway.proxy.ClientLimits;
import java.util.List;

/** Options of what one client of a gateway may take, and of names of the admin port. */
@Heading(value = Heading.LIMITS, block = Block.LIMITS)
final class ServeClients extends DeclaredOptions {

  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_CONNECTIONS = 1 << 20;
  private static final int MAX_RATE = 1 << 30;
  private static final double MIN_SHARE = 1e-6;

  private final Declared<Double> share =
      number("--client-share", "0.25", MIN_SHARE, 1)
          .help(
              39,
              "Part of the body budget, of the places in service for uploads, and of"
                  + " the connections that one client's address may have; 1 behind a proxy");

  private final Declared<Integer> maxConnections =
      integer("--max-connections", "16384", 1, MAX_CONNECTIONS)
          .help(40, "Most connections of clients; more are closed");

  private final Declared<Double> uploadTimeout =
      number("--upload-timeout-seconds", "600", 0.001, MAX_SECONDS)
          .label("N")
          .help(41, "Longest time for a body that is streamed");

  private final Declared<Integer> minUploadRate =
      integer("--min-upload-rate", "4096", 1, MAX_RATE)
          .help(
              42,
              "Least bytes a second of a body that is streamed, after" + " --body-timeout-seconds");

  private final Declared<List<String>> adminAllowedHosts =
      list("--admin-allowed-hosts", "NAME[,NAME]", null, name -> name)
          .in(Block.ADMIN)
          .help(
              43,
              "Names under which the admin port answers, besides addresses and"
                  + " localhost (default: none).");

  /** What one client may take. */
  ClientLimits limits() {
    return new ClientLimits(
        share.value(),
        maxConnections.value(),
        Math.round(1e3 * uploadTimeout.value()),
        minUploadRate.value());
  }

  /** Names of the admin port. */
  List<String> adminNames() {
    return adminAllowedHosts.orElse(List.of());
  }
}
