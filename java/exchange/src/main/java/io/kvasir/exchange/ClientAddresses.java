package io.kvasir.exchange;

/** Addresses of clients. Stateless. */
public final class ClientAddresses {

  private static final int NETWORK_GROUPS = 4;

  private ClientAddresses() {}

  /**
   * What limits take for one client: an address of IPv4, or a network of IPv6, in which one client
   * has all addresses (RFC 6177).
   *
   * @param address an address as Java writes it, without abbreviation
   * @return the address, or its first 64 bits
   */
  public static String client(String address) {
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
