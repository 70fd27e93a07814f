package io.kvasir.embedded.disagg;

import io.kvasir.embedded.api.ApiError;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** An engine's names and address, as it gives them to others. Thread-safe. */
final class EngineIdentity {

  private static final int MAX_PORT = 65_535;

  private final RoleSettings settings;
  private final int ranks;
  private volatile @Nullable URI url;
  private volatile int transferPort;

  /** Of rank 0; 0 if ranks have no ports of their own. */
  private volatile int sideChannelPort;

  EngineIdentity(RoleSettings settings, int ranks) {
    this.settings = settings;
    this.ranks = ranks;
  }

  /** The engine listens, from now on. */
  void listens(String host, int port, int forTransfers) {
    transferPort = forTransfers;
    url = address(host, port);
  }

  /** Each rank has a port of its own, from now on. */
  void namesSideChannels(int portOfFirst) {
    sideChannelPort = portOfFirst;
  }

  /**
   * The port at which others fetch the KV of a rank over NIXL.
   *
   * @throws ApiError if it has none
   */
  int sideChannelPort(int rank) {
    return sideChannelPort == 0 ? url().getPort() : sideChannelPort + rank;
  }

  /** The port at which others fetch KV, if the address is known. */
  int transferPort() {
    return transferPort;
  }

  /**
   * The address of an engine; a host with colons may lack its brackets.
   *
   * @throws IllegalArgumentException if they are no address
   */
  static URI address(String host, int port) {
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return httpUrl("http://" + (bare ? "[" + host + "]" : host) + ":" + port);
  }

  /**
   * An address that can be asked over HTTP.
   *
   * @throws IllegalArgumentException if it cannot
   */
  static URI httpUrl(String text) {
    URI url = URI.create(text);
    if (!"http".equalsIgnoreCase(url.getScheme())
        || url.getHost() == null
        || url.getRawUserInfo() != null
        || url.getPort() == 0
        || url.getPort() > MAX_PORT) {
      throw new IllegalArgumentException("it is no address like http://host:port");
    }
    return url;
  }

  /**
   * Its address.
   *
   * @throws ApiError if it has none
   */
  URI url() {
    URI known = url;
    if (known == null) {
      throw ApiError.of(ApiError.INTERNAL, "no_address", "the engine listens at no port");
    }
    return known;
  }

  RoleSettings settings() {
    return settings;
  }

  int ranks() {
    return ranks;
  }

  /**
   * Refuses a prefill leg if the engine computes no prompts for others.
   *
   * @param field what makes it a prefill leg
   */
  void requirePrefills(String field) {
    if (!settings.role().prefills()) {
      throw ApiError.invalid(field, field + " is for prefill, and this engine is for decode");
    }
  }

  /**
   * Refuses a decode leg if the engine generates no answers to prompts of others.
   *
   * @param field what makes it a decode leg
   */
  void requireDecodes(String field) {
    if (!settings.role().decodes()) {
      throw ApiError.invalid(field, field + " is for decode, and this engine is for prefill");
    }
  }
}
