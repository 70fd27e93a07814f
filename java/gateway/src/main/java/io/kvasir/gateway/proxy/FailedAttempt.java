package io.kvasir.gateway.proxy;

/**
 * An attempt that failed. Immutable.
 *
 * @param worker its worker's name
 * @param dpRank its rank; negative if the worker chose
 * @param reason why, as metrics name it
 */
record FailedAttempt(String worker, int dpRank, String reason) {}
