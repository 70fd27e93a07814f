/**
 * The admin port: metrics, health, what is known of each worker and rank, and where a request would
 * go. Reads what the other packages keep, and changes nothing.
 */
@NullMarked
package io.kvasir.gateway.admin;

import org.jspecify.annotations.NullMarked;
