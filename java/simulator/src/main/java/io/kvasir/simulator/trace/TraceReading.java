package io.kvasir.simulator.trace;

import org.jspecify.annotations.Nullable;

/**
 * How a trace file is read.
 *
 * <p>Immutable.
 *
 * @param units the units of numbers
 * @param columns the columns of a CSV file, or null to recognise them by the header
 * @param sorted whether rows are put in order of their arrival; otherwise a row that arrives before
 *     the row above it is an error
 */
public record TraceReading(TraceUnits units, @Nullable TraceColumns columns, boolean sorted) {}
