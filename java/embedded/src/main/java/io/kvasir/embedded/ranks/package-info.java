/**
 * ADP ranks that answer with synthetic words. {@link io.kvasir.embedded.ranks.RankLoop} is the
 * thread that drives the worker in real time, {@link io.kvasir.embedded.ranks.RankWorker} its pools
 * and executors, and {@link io.kvasir.embedded.ranks.RankModel} shows them to the endpoints as a
 * model, {@link io.kvasir.embedded.ranks.TemplateMessages} makes one chat of each API's messages. A
 * {@link io.kvasir.embedded.ranks.BlockFeed} follows the blocks of each rank's pool.
 *
 * <p>The package does not depend on the engines that ranks may stand in for, or on models in files.
 *
 * <p>Tests: {@code AnswerTest}; the ranks are tested through the engine, in {@code
 * EmbeddedCompletionsTest}, {@code EmbeddedControlTest} and {@code EmbeddedInfoTest}.
 */
@NullMarked
package io.kvasir.embedded.ranks;

import org.jspecify.annotations.NullMarked;
