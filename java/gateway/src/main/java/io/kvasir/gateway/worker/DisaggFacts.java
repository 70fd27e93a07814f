package io.kvasir.gateway.worker;

/**
 * What an engine says about the part of requests that it serves. Immutable.
 *
 * @param role the part
 * @param bootstrapPort the port of its bootstrap server; 0 if unknown
 */
public record DisaggFacts(WorkerRole role, int bootstrapPort) {}
