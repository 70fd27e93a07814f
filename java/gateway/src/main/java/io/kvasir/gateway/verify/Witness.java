package io.kvasir.gateway.verify;

import io.kvasir.exchange.ClientAddresses;

/**
 * Whose requests give evidence: a client's address, as {@link ClientAddresses#client} has it. Keys
 * of clients are no witnesses, because a client can make up many. Immutable.
 *
 * @param address the address or its beginning
 */
public record Witness(String address) {

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
      return new Witness(ClientAddresses.client(remote.substring(1, bracket)));
    }
    return new Witness(ClientAddresses.client(port < 0 ? remote : remote.substring(0, port)));
  }
}
