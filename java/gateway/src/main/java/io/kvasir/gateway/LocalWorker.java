package io.kvasir.gateway;

import io.kvasir.exchange.Upstream;

/**
 * A worker in this process.
 *
 * @param name its name in logs and metrics
 * @param upstream answers its requests; the gateway closes it
 */
public record LocalWorker(String name, Upstream upstream) {}
