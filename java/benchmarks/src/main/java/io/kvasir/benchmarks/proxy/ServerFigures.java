package io.kvasir.benchmarks.proxy;

/**
 * What one server measured in one round; for the engine without a proxy CPU time is undefined.
 * Immutable.
 *
 * @param cpuUsPerChunk CPU time of the whole process for each streamed chunk, requests included
 * @param chunksPerSecond the pace at which that was measured
 * @param chunkUs median time from the engine's write of a chunk to the client's read, at that pace
 * @param firstByteUs median time from request to first byte, without the engine's own time
 * @param firstByteP99Us 99 of 100 first bytes took no longer
 * @param cpuUsPerStream CPU time of the whole process for each of the streams whose first bytes
 *     were measured, which have ten chunks
 * @param requestsPerSecond short requests at saturation
 * @param cpuUsPerRequest CPU time of the whole process for each of them
 */
public record ServerFigures(
    double cpuUsPerChunk,
    double chunksPerSecond,
    double chunkUs,
    double firstByteUs,
    double firstByteP99Us,
    double cpuUsPerStream,
    double requestsPerSecond,
    double cpuUsPerRequest) {}
