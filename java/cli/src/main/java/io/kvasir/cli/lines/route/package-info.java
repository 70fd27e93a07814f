/**
 * The operations of {@code kvasir route}. {@link io.kvasir.cli.lines.route.RouteLines} reads them.
 * {@link io.kvasir.cli.lines.route.AdpOperations} runs those on ADP routers; those on fleet routers
 * are in {@link io.kvasir.cli.lines.fleet}.
 */
@NullMarked
package io.kvasir.cli.lines.route;

import org.jspecify.annotations.NullMarked;
