package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A request as an upstream receives it. A request can be sent several times, to several upstreams.
 *
 * @param method for example {@code POST}
 * @param target path and query, for example {@code /v1/completions}
 * @param headers the fields, without those of one connection
 * @param body the body in heap memory, empty if there is none; never consumed or released: readers
 *     duplicate it. Null if the caller streams the body through {@link UpstreamCall}
 * @param newConnection whether the request must not use a connection that served others
 */
public record UpstreamRequest(
    String method, String target, Headers headers, @Nullable ByteBuf body, boolean newConnection) {

  /**
   * A request that may use any connection.
   *
   * @param method for example {@code POST}
   * @param target path and query
   * @param headers the fields, without those of one connection
   * @param body see {@link #body()}
   */
  public UpstreamRequest(String method, String target, Headers headers, @Nullable ByteBuf body) {
    this(method, target, headers, body, false);
  }

  /** {@return the same request, to be sent on a new connection} */
  public UpstreamRequest onNewConnection() {
    return new UpstreamRequest(method, target, headers, body, true);
  }

  /**
   * {@return the same request for another target}
   *
   * @param other path and query
   */
  public UpstreamRequest withTarget(String other) {
    return new UpstreamRequest(method, other, headers, body, newConnection);
  }
}
