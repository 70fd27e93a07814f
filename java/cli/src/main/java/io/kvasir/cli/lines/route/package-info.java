/**
 * The operations of {@code kvasir route}. {@link io.kvasir.cli.lines.route.RouteLines} reads them.
 * {@link io.kvasir.cli.lines.route.AdpOperations} runs those on ADP routers, and {@link
 * io.kvasir.cli.lines.route.FleetOperations} those on fleet routers.
 */
@NullMarked
package io.kvasir.cli.lines.route;

import org.jspecify.annotations.NullMarked;
