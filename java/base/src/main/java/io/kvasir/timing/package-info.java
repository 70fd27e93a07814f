/**
 * The time of an engine's steps: a model with published coefficients, corrected by observed times.
 * And the work that conversations are expected to bring, {@link io.kvasir.timing.ExpectedTurns}.
 */
@NullMarked
package io.kvasir.timing;

import org.jspecify.annotations.NullMarked;
