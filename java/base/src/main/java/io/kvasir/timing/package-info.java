/**
 * The time of an engine's steps: a model with published coefficients, and what is learned from
 * observed times.
 */
@NullMarked
package io.kvasir.timing;

import org.jspecify.annotations.NullMarked;
