/**
 * The JSON-lines dialect of fleet routers. {@link io.kvasir.cli.lines.fleet.FleetDialect} carries
 * out its operations on a router of any policy. {@link io.kvasir.cli.lines.fleet.RequestReader} and
 * {@link io.kvasir.cli.lines.fleet.BlockEventReader} read fields, {@link
 * io.kvasir.cli.lines.fleet.RoutedRequests} keeps the requests by id, and {@link
 * io.kvasir.cli.lines.fleet.OutcomeJson} writes answers. docs/json-lines.md describes the dialect.
 */
@NullMarked
package io.kvasir.cli.lines.fleet;

import org.jspecify.annotations.NullMarked;
