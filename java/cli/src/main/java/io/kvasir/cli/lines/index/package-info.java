/**
 * The operations of {@code kvasir index}. {@link io.kvasir.cli.lines.index.IndexLines} reads them.
 * {@link io.kvasir.cli.lines.index.IndexOperations} runs those on the blocks of ranks, {@link
 * io.kvasir.cli.lines.index.PredictOperations} those on predicted load, and {@link
 * io.kvasir.cli.lines.index.SelectOperations} those that choose ranks. The last two share a {@link
 * io.kvasir.cli.lines.index.RequestLedger}.
 */
@NullMarked
package io.kvasir.cli.lines.index;

import org.jspecify.annotations.NullMarked;
