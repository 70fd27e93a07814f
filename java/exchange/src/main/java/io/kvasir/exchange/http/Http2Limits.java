package io.kvasir.exchange.http;

import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import java.util.concurrent.TimeUnit;

/**
 * What one connection of HTTP/2 may do. Stateless.
 *
 * <p>A stream whose body the gateway does not read has room for {@value #STREAM_BYTES} bytes, and a
 * connection for {@value #CONNECTION_BYTES} of all its streams, which no budget counts. Bodies wait
 * only while those of this client, or of all, have no room; then they wait for each other.
 */
final class Http2Limits {

  /** Requests of a connection at a time. */
  static final int MAX_STREAMS = 128;

  /** Bytes of a body that a client may send before they are read. */
  static final int STREAM_BYTES = 64 << 10;

  /** Bytes of all bodies of a connection that a client may send before they are read. */
  static final int CONNECTION_BYTES = 2 << 20;

  /**
   * Requests that a client may take back in {@link #RESET_SECONDS}: each costs the gateway a choice
   * and the engine a start, and none counts as one of {@link #MAX_STREAMS} any more
   * (CVE-2023-44487).
   */
  static final int MAX_RESETS = 1_000;

  static final int RESET_SECONDS = 10;

  /** Parts of header fields that are smaller than they need be (CVE-2024-27316). */
  private static final int MAX_SMALL_CONTINUATIONS = 16;

  private Http2Limits() {}

  /** Sets them for connections of a server. */
  static void set(HttpServerOptions options) {
    options
        .setInitialSettings(
            new Http2Settings()
                .setMaxConcurrentStreams(MAX_STREAMS)
                .setInitialWindowSize(STREAM_BYTES)
                .setMaxHeaderListSize(HttpFront.MAX_HEADER_BYTES))
        .setHttp2ConnectionWindowSize(CONNECTION_BYTES)
        .setHttp2RstFloodMaxRstFramePerWindow(MAX_RESETS)
        .setHttp2RstFloodWindowDuration(RESET_SECONDS)
        .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS)
        .setHttp2MaxSmallContinuationFrames(MAX_SMALL_CONTINUATIONS);
  }
}
