/**
 * The routers as JSON lines: what {@code kvasir route} reads and writes. {@link
 * io.kvasir.cli.route.RouteLines} reads operations, {@link io.kvasir.cli.route.AdpOperations} and
 * {@link io.kvasir.cli.route.ServeOperations} carry them out, one kind of router each.
 */
package io.kvasir.cli.route;
