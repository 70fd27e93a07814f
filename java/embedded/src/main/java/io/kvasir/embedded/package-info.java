/**
 * Engines of this process, without HTTP and behind it. {@link io.kvasir.embedded.EmbeddedEngine}
 * has ADP ranks: requests run in real pools, under the real ADP routers and schedulers, and only
 * the computation is modelled, in real time. Answers are synthetic. {@link
 * io.kvasir.embedded.EngineServer} puts HTTP in front of an engine, and a {@link
 * io.kvasir.embedded.ModelEngineProvider} opens a model in a file as one.
 *
 * <p>The package puts engines together; the rooms below it do the work: {@code api} reads requests
 * and writes replies, {@code ranks} and {@code text} generate, {@code standin} has the endpoints
 * and faults of other engines, {@code publish} their events. No room depends on this package.
 *
 * <p>Tests: {@code EmbeddedCompletionsTest}, {@code EmbeddedMessagesTest} and {@code
 * EmbeddedResponsesTest} by endpoint, {@code EmbeddedControlTest} for load, cancellation and loss,
 * {@code EmbeddedErrorsTest} and {@code EmbeddedFuzzTest} for bad requests.
 */
@NullMarked
package io.kvasir.embedded;

import org.jspecify.annotations.NullMarked;
