/**
 * The operations of {@code kvasir index}. {@link io.kvasir.cli.lines.index.IndexLines} reads them,
 * and {@link io.kvasir.cli.lines.index.IndexOperations} carries them out.
 */
@NullMarked
package io.kvasir.cli.lines.index;

import org.jspecify.annotations.NullMarked;
