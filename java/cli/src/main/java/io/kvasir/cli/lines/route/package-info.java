/**
 * The routers as JSON lines: what {@code kvasir route} reads and writes. {@link
 * io.kvasir.cli.lines.route.RouteLines} reads operations, {@link
 * io.kvasir.cli.lines.route.AdpOperations} and {@link io.kvasir.cli.lines.route.ServeOperations}
 * carry them out, one kind of router each.
 */
package io.kvasir.cli.lines.route;
