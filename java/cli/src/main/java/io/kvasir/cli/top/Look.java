package io.kvasir.cli.top;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What the admin port of a gateway answered at one time. Not to be changed.
 *
 * @param atNs when, by {@link System#nanoTime}
 * @param workers {@code GET /kvasir/workers}
 * @param ranks {@code GET /kvasir/ranks}
 * @param decisions {@code GET /kvasir/decisions}, newest first
 * @param metrics {@code GET /metrics}
 */
public record Look(
    long atNs, JsonNode workers, JsonNode ranks, JsonNode decisions, Metrics metrics) {}
