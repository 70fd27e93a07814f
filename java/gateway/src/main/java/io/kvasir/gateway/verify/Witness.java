package io.kvasir.gateway.verify;

/**
 * Whose requests give evidence: a client's IPv4 address, or the first 64 bits of its IPv6 address,
 * as one client has all addresses behind them (RFC 6177). Keys of clients are no witnesses, because
 * a client can make up many. Immutable.
 *
 * @param address the address or its beginning
 */
public record Witness(String address) {

  private static final int NETWORK_GROUPS = 4;

  /**
   * The witness at a remote address.
   *
   * @param remote {@code ADDRESS:PORT} or {@code [ADDRESS]:PORT}; IPv6 without abbreviation, as
   *     Java writes it
   * @return the witness
   */
  public static Witness at(String remote) {
    int bracket = remote.indexOf(']');
    int port = remote.lastIndexOf(':');
    if (bracket >= 0) {
      return new Witness(network(remote.substring(1, bracket)));
    }
    return new Witness(network(port < 0 ? remote : remote.substring(0, port)));
  }

  private static String network(String address) {
    int end = -1;
    for (int group = 0; group < NETWORK_GROUPS; group++) {
      int next = address.indexOf(':', end + 1);
      if (next < 0) {
        return address;
      }
      end = next;
    }
    return address.substring(0, end);
  }
}
