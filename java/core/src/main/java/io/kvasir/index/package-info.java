/**
 * Which (worker, rank) holds which prefix, for engines in other processes.
 *
 * <p>A {@link io.kvasir.index.PrefixIndex} learns from the {@link io.kvasir.event.CacheChange}s of
 * engines and answers matches. It knows nothing of transports, loads or routers.
 */
package io.kvasir.index;
