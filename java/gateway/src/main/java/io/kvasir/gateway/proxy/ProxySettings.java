package io.kvasir.gateway.proxy;

import io.kvasir.gateway.route.Shares;

/**
 * Limits on the path of a request. Immutable.
 *
 * @param maxBodyBytes largest body of a request that the gateway reads
 * @param bodyTimeoutMs limit for the arrival of a body; of one that is streamed, of each part
 * @param queueTimeoutMs limit for waiting until the request may start
 * @param firstByteTimeoutMs limit from sending a request to the first data event of its reply; a
 *     comment restarts it
 * @param firstTokenTimeoutMs limit from sending a request to the first data event of its reply,
 *     whatever comments arrive
 * @param idleTimeoutMs limit between two parts of a reply
 * @param clientTimeoutMs limit for a client that does not read its reply
 * @param maxAttempts attempts of a request, at least 1
 * @param shares which part of the requests goes to workers of little weight
 * @param explain whether every reply names the choice in its headers
 * @param clients what one client may take
 * @param origins which pages in browsers may send requests
 * @param passPaths paths outside the API that pass to the workers
 */
public record ProxySettings(
    long maxBodyBytes,
    long bodyTimeoutMs,
    long queueTimeoutMs,
    long firstByteTimeoutMs,
    long firstTokenTimeoutMs,
    long idleTimeoutMs,
    long clientTimeoutMs,
    int maxAttempts,
    Shares shares,
    boolean explain,
    ClientLimits clients,
    CrossOrigin origins,
    PassPaths passPaths) {}
