package io.kvasir.gateway.proxy;

/**
 * What one client may take of what all clients share. Immutable.
 *
 * @param share the part of the body budget, of the places in service and of the connections that
 *     one client's address may have; above 0, at most 1
 * @param maxConnections connections of all clients
 * @param uploadTimeoutMs limit for a body that is streamed, from its first byte to its last
 * @param minUploadRate least bytes a second of a body that is streamed
 */
public record ClientLimits(
    double share, int maxConnections, long uploadTimeoutMs, long minUploadRate) {

  /** What the command line has without options. */
  public static final ClientLimits DEFAULT = new ClientLimits(0.25, 16_384, 600_000, 4_096);
}
