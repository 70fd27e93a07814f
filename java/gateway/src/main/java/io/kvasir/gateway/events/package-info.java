/** Block events of engines: sockets, replay of what was missed, and the index that they change. */
@NullMarked
package io.kvasir.gateway.events;

import org.jspecify.annotations.NullMarked;
