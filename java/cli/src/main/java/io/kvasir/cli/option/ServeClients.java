package io.kvasir.cli.option;

import io.kvasir.gateway.proxy.ClientLimits;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of what one client of a gateway may take, and of names of the admin port. */
@Heading("Limits and timeouts")
final class ServeClients {

  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_CONNECTIONS = 1 << 20;
  private static final int MAX_RATE = 1 << 30;
  private static final double MIN_SHARE = 1e-6;

  @Option(
      names = "--client-share",
      paramLabel = "X",
      defaultValue = "0.25",
      order = 39,
      description =
          "Part of the body budget, of the places in service for uploads, and of the connections"
              + " that one client's address may have; 1 behind a proxy (default: ${DEFAULT-VALUE}).")
  private String share;

  @Option(
      names = "--max-connections",
      paramLabel = "N",
      defaultValue = "16384",
      order = 40,
      description = "Most connections of clients; more are closed (default: ${DEFAULT-VALUE}).")
  private String maxConnections;

  @Option(
      names = "--upload-timeout-seconds",
      paramLabel = "N",
      defaultValue = "600",
      order = 41,
      description = "Longest time for a body that is streamed (default: ${DEFAULT-VALUE}).")
  private String uploadTimeout;

  @Option(
      names = "--min-upload-rate",
      paramLabel = "N",
      defaultValue = "4096",
      order = 42,
      description =
          "Least bytes a second of a body that is streamed, after --body-timeout-seconds"
              + " (default: ${DEFAULT-VALUE}).")
  private String minUploadRate;

  @Option(
      names = "--admin-allowed-hosts",
      paramLabel = "NAME[,NAME]",
      order = 43,
      description =
          "Names under which the admin port answers, besides addresses and localhost (default:"
              + " none).")
  private @Nullable String adminAllowedHosts;

  /** What one client may take. */
  ClientLimits limits() {
    return new ClientLimits(
        Values.number("--client-share", share, MIN_SHARE, 1),
        Values.integer("--max-connections", maxConnections, 1, MAX_CONNECTIONS),
        Math.round(
            1e3 * Values.number("--upload-timeout-seconds", uploadTimeout, 0.001, MAX_SECONDS)),
        Values.integer("--min-upload-rate", minUploadRate, 1, MAX_RATE));
  }

  /** Names of the admin port. */
  List<String> adminNames() {
    return adminAllowedHosts == null
        ? List.of()
        : Values.list("--admin-allowed-hosts", adminAllowedHosts, name -> name);
  }
}
