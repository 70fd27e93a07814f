package io.kvasir.gateway.events;

import io.kvasir.model.RankId;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank publishes. Immutable.
 *
 * @param rank the rank
 * @param live the endpoint of its events, {@code tcp://HOST:PORT}
 * @param replay the endpoint that repeats them; null if there is none
 * @param topic the beginning of the topics to subscribe to; empty for all
 * @param bind whether the engine connects to {@code live}, which this process binds
 */
public record FeedSpec(
    RankId rank, String live, @Nullable String replay, String topic, boolean bind) {}
