/**
 * The prefix index as JSON lines: what {@code kvasir index} reads and writes. {@link
 * io.kvasir.cli.lines.index.IndexLines} reads operations. {@link
 * io.kvasir.cli.lines.index.IndexOperations} carries out those on what ranks hold, {@link
 * io.kvasir.cli.lines.index.PredictOperations} those on predicted load, {@link
 * io.kvasir.cli.lines.index.SelectOperations} those that choose ranks; the last two share a {@link
 * io.kvasir.cli.lines.index.RequestLedger}.
 */
package io.kvasir.cli.lines.index;
