/**
 * The admin port: metrics, health, the state of each worker and rank, decisions, and where a
 * request would go. Reads the state of the other packages; only {@link
 * io.kvasir.gateway.admin.WorkersHandler} changes something, namely which workers there are.
 */
@NullMarked
package io.kvasir.gateway.admin;

import org.jspecify.annotations.NullMarked;
