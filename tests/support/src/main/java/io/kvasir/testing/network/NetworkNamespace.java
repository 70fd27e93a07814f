package io.kvasir.testing.network;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A network namespace of Linux, linked to this process's own by a pair of addresses. The link can
 * be cut: packets are lost then in both directions, and neither side is told. Needs root and {@code
 * ip} of iproute2.
 *
 * <p>Confined to one thread.
 */
public final class NetworkNamespace implements AutoCloseable {

  /** A hardware address that no interface has. */
  private static final String NO_INTERFACE = "02:00:00:00:00:01";

  /** Networks of four addresses in 198.18.0.0/15, which is reserved for such uses. */
  private static final int NETWORKS = 32_768;

  private final String name;
  private final String outerLink;
  private final String innerLink;
  private final String outer;
  private final String inner;

  private NetworkNamespace(int id) {
    this.name = "kvasir-" + id;
    this.outerLink = "kvo" + id;
    this.innerLink = "kvi" + id;
    this.outer = address(4 * id + 1);
    this.inner = address(4 * id + 2);
  }

  private static String address(int at) {
    return "198." + (18 + (at >> 16)) + "." + (at >> 8 & 255) + "." + (at & 255);
  }

  /**
   * Makes a namespace.
   *
   * @return the namespace; the caller closes it
   * @throws IOException if this process may not, or {@code ip} is missing; nothing is left behind
   */
  public static NetworkNamespace create() throws IOException {
    NetworkNamespace made = new NetworkNamespace((int) (ProcessHandle.current().pid() % NETWORKS));
    made.close(); // what a killed process of this number has left
    try {
      ip("netns", "add", made.name);
      ip("link", "add", made.outerLink, "type", "veth", "peer", "name", made.innerLink);
      ip("link", "set", made.innerLink, "netns", made.name);
      ip("addr", "add", made.outer + "/30", "dev", made.outerLink);
      ip("link", "set", made.outerLink, "up");
      made.inside("addr", "add", made.inner + "/30", "dev", made.innerLink);
      made.inside("link", "set", made.innerLink, "up");
      made.inside("link", "set", "lo", "up");
      return made;
    } catch (IOException e) {
      made.close();
      throw e;
    }
  }

  /** {@return the words before a command that runs it inside} */
  public List<String> prefix() {
    return List.of("ip", "netns", "exec", name);
  }

  /** {@return the address at which this process reaches what is inside} */
  public String address() {
    return inner;
  }

  /** {@return the address at which what is inside reaches this process} */
  public String outerAddress() {
    return outer;
  }

  /**
   * Loses all packets from now on.
   *
   * @throws IOException if the link cannot be changed
   */
  public void cut() throws IOException {
    neighbours("replace", "lladdr", NO_INTERFACE, "nud", "permanent");
  }

  /**
   * Ends a cut.
   *
   * @throws IOException if the link cannot be changed
   */
  public void heal() throws IOException {
    neighbours("del");
  }

  private void neighbours(String change, String... how) throws IOException {
    List<String> words = new ArrayList<>(List.of("neigh", change, inner, "dev", outerLink));
    words.addAll(List.of(how));
    ip(words.toArray(String[]::new));
    words.set(2, outer);
    words.set(4, innerLink);
    inside(words.toArray(String[]::new));
  }

  private void inside(String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of("-n", name));
    all.addAll(List.of(words));
    ip(all.toArray(String[]::new));
  }

  private static void ip(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    ChildProcess ended =
        ChildProcess.run(
            String.join(" ", command), new ProcessBuilder(command).redirectErrorStream(true));
    if (ended.exitCode() != 0) {
      throw new IOException(ended.toString().strip());
    }
  }

  /** Removes the namespace and its link; processes inside lose their network. */
  @Override
  public void close() {
    for (String[] removal : new String[][] {{"link", "del", outerLink}, {"netns", "del", name}}) {
      try {
        ip(removal);
      } catch (IOException e) {
        // It was not there.
      }
    }
  }
}
