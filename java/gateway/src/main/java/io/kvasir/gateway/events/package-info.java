/**
 * Block events of engines: sockets, replay of what was missed, and the index that they change; and
 * the steps that engines report.
 */
@NullMarked
package io.kvasir.gateway.events;

import org.jspecify.annotations.NullMarked;
