package io.kvasir.embedded.standin;

import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.disagg.Disagg;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.embedded.ranks.MetricsText;
import io.kvasir.embedded.ranks.RankLoop;
import io.kvasir.embedded.ranks.RankModel;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an engine that the endpoints of its stand-in use. Thread-safe.
 *
 * @param settings the engine's settings
 * @param model the model
 * @param options reads what requests have in common
 * @param info the endpoints of all engines
 * @param metrics the metrics of the ranks
 * @param ranks the ranks
 * @param standIn the stand-in
 * @param disagg its part in requests of several engines; null for none
 */
record StandInParts(
    EmbeddedSettings settings,
    RankModel model,
    OptionsReader options,
    InfoEndpoints info,
    MetricsText metrics,
    RankLoop ranks,
    StandIn standIn,
    @Nullable Disagg disagg) {}
