package io.kvasir.benchmarks.proxy;

import java.nio.file.Path;

/**
 * What is measured, and how long. Immutable.
 *
 * @param root the repository, with the sources of the C programs
 * @param rounds rounds of all measurements; 0 for none
 * @param seconds length of one measurement of one server
 * @param streams streams at a time in the measurement of the first byte
 * @param chunkRate chunks per second in the measurement of CPU time
 * @param idleStreams streams that are held open while the gateway's heap is measured; 0 for none
 * @param requests requests during which the gateway's memory must not grow; 0 for none
 */
public record ProxyBenchSettings(
    Path root,
    int rounds,
    int seconds,
    int streams,
    int chunkRate,
    int idleStreams,
    int requests) {}
