/**
 * Operations of earlier versions of the JSON lines, by which conformance vectors drive fleet
 * routers: {@link io.kvasir.cli.lines.former.FormerOperations} carries them out on the classes of
 * the one dialect.
 */
@NullMarked
package io.kvasir.cli.lines.former;

import org.jspecify.annotations.NullMarked;
