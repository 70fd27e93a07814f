/**
 * {@code kvasir route}: routers as JSON lines. {@link io.kvasir.cli.lines.route.RouteLines} reads
 * the operations; {@link io.kvasir.cli.lines.route.AdpOperations} runs those of ADP routers and
 * {@link io.kvasir.cli.lines.route.FleetOperations} those of fleet routers.
 */
package io.kvasir.cli.lines.route;
