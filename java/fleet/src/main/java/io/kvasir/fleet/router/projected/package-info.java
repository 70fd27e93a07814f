/**
 * The fleet router that predicts the time to first token on each rank, from a model of engine steps
 * that it fits while it routes.
 */
@NullMarked
package io.kvasir.fleet.router.projected;

import org.jspecify.annotations.NullMarked;
