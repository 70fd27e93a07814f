/**
 * What is known of a worker's engine: the operator's description, what the engine says, steering.
 */
@NullMarked
package io.kvasir.gateway.worker;

import org.jspecify.annotations.NullMarked;
