/**
 * Endpoints that every engine of this process has, and what they read and write. {@link
 * io.kvasir.embedded.api.Routes} passes a request to its endpoint, which reads it with {@link
 * io.kvasir.embedded.api.OptionsReader} and asks a {@link io.kvasir.embedded.api.ServedModel} to
 * complete it. An {@link io.kvasir.embedded.api.AnswerCall} turns the events of the sequences into
 * the reply. {@link io.kvasir.embedded.api.EngineProfile} says how engines differ.
 *
 * <p>The package does not depend on ranks, pools, models in files or published events.
 *
 * <p>Tests: {@code ResponseStoreTest}; the endpoints are tested through engines, in {@code
 * EmbeddedCompletionsTest}, {@code EmbeddedMessagesTest}, {@code EmbeddedResponsesTest}, {@code
 * EmbeddedErrorsTest} and {@code EmbeddedFuzzTest}.
 */
@NullMarked
package io.kvasir.embedded.api;

import org.jspecify.annotations.NullMarked;
