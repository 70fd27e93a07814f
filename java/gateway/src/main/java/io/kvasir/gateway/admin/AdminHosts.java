package io.kvasir.gateway.admin;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The names under which the admin port answers. A page in an operator's browser can reach the port
 * under a name of its own (DNS rebinding), but not under an address, and not under these names.
 *
 * <p>Immutable and thread-safe.
 */
public final class AdminHosts {

  private static final String LOCALHOST = "localhost";
  private static final Pattern ADDRESS =
      Pattern.compile("\\[[0-9a-f:.]+(%25[\\w.-]+)?]|\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Pattern PORT = Pattern.compile(":\\d*$");

  private final Set<String> names;

  /**
   * Allows addresses, the local host, and names.
   *
   * @param names the names, without ports
   */
  public AdminHosts(List<String> names) {
    this.names =
        names.stream().map(name -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
  }

  /**
   * Whether a request may be answered.
   *
   * @param host its field {@code Host}; null if it has none, as no browser's request
   */
  boolean allows(@Nullable String host) {
    if (host == null) {
      return true;
    }
    String name = PORT.matcher(host.strip().toLowerCase(Locale.ROOT)).replaceFirst("");
    return ADDRESS.matcher(name).matches()
        || name.equals(LOCALHOST)
        || name.endsWith("." + LOCALHOST)
        || names.contains(name);
  }
}
