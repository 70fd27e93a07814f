package io.kvasir.gateway.worker;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Engines that DNS lists under a name, as an operator describes them: {@code
 * dns+http://NAME:PORT[,KEY=VALUE]...} for the addresses of the name, {@code
 * dnssrv+http://NAME[,KEY=VALUE]...} for hosts and ports of its SRV records. The rest is as in
 * {@link WorkerSpec#parse(String)}, where {@code {host}} stands for each engine's host. Immutable.
 *
 * @param scheme how the engines are spoken to: http or https
 * @param name the name that DNS knows
 * @param port the port of all engines; 0 if SRV records have it
 * @param rest the path and the keys, as they stand behind the port
 * @param role the role that an option states; null if only a key can
 */
public record DnsWorkers(
    String scheme, String name, int port, String rest, @Nullable WorkerRole role) {

  private static final Pattern SHAPE =
      Pattern.compile(
          "(dns|dnssrv)\\+(https?)://([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9._])?)(?::(\\d{1,5}))?([/,].*)?");

  private static final String HOST = "{host}";
  private static final int HTTP_PORT = 80;

  /** Keys whose endpoints differ from engine to engine. */
  private static final List<String> ENDPOINTS =
      List.of("events", "replay", WorkerSpec.FORWARD_PASSES, "bootstrap", "side_channel");

  /** For a description that is checked before DNS has answered; no engine has it. */
  private static final String EXAMPLE_HOST = "192.0.2.1";

  /**
   * {@return whether a description is of engines that DNS lists}
   *
   * @param text the description of a worker, or of these
   */
  public static boolean isMeant(String text) {
    return text.startsWith("dns+") || text.startsWith("dnssrv+");
  }

  /**
   * Parses a description.
   *
   * @param text the description
   * @param role the role that an option states; null if only a key can
   * @return the engines
   * @throws IllegalArgumentException naming the part that is wrong and what is allowed
   */
  public static DnsWorkers parse(String text, @Nullable WorkerRole role) {
    Matcher matcher = SHAPE.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "the URL must be dns+http://name:port or dnssrv+http://name, not '"
              + Errors.shown(WorkerSpecParser.withoutSecrets(text.split(",", 2)[0]))
              + "'");
    }
    boolean services = matcher.group(1).equals("dnssrv");
    if (services && matcher.group(5) != null) {
      throw new IllegalArgumentException(
          "the URL must have no port with dnssrv+: SRV records have the ports");
    }
    if (!services && matcher.group(2).equals("https")) {
      throw new IllegalArgumentException(
          "the URL must be dns+http://: certificates name no addresses; dnssrv+https:// has names");
    }
    String port = matcher.group(5);
    int number = services ? 0 : port == null ? HTTP_PORT : Integer.parseInt(port);
    if (!services && (number < 1 || number > EventEndpoints.MAX_PORT)) {
      throw new IllegalArgumentException(
          "the port must be 1 to " + EventEndpoints.MAX_PORT + ", not " + number);
    }
    String rest = matcher.group(6) == null ? "" : matcher.group(6);
    for (String part : rest.split(",", -1)) {
      String key = part.split("=", 2)[0];
      if (ENDPOINTS.contains(key) && !part.contains(HOST)) {
        throw new IllegalArgumentException(
            key + " must have " + HOST + ", which stands for the host of each engine");
      }
      if (part.equals("bind=true")) {
        throw new IllegalArgumentException(
            "bind must be left out: each engine that DNS lists would need a port of its own");
      }
    }
    DnsWorkers workers = new DnsWorkers(matcher.group(2), matcher.group(3), number, rest, role);
    WorkerSpec unused = workers.example();
    return workers;
  }

  /** {@return whether SRV records have the hosts and ports} */
  public boolean services() {
    return port == 0;
  }

  /** {@return one of them as it would be, at an address that no engine has} */
  public WorkerSpec example() {
    return at(EXAMPLE_HOST, services() ? HTTP_PORT : port);
  }

  /**
   * {@return one of them}
   *
   * @param host its name or address; an IPv6 address without brackets
   * @param port its port
   * @throws IllegalArgumentException if the description does not fit, or a key's file has gone
   */
  public WorkerSpec at(String host, int port) {
    String written = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return WorkerSpec.parse(
        scheme + "://" + written + ":" + port + rest.replace(HOST, written), role);
  }

  /** {@return how operators write the name} */
  @Override
  public String toString() {
    return services() ? "dnssrv+" + scheme + "://" + name : "dns+http://" + name + ":" + port;
  }
}
