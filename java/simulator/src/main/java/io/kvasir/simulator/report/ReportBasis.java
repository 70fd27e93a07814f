package io.kvasir.simulator.report;

/**
 * What gives a report again.
 *
 * <p>Immutable.
 *
 * @param command the command line, with the variables that set options
 * @param build version and commit of Kvasir
 */
public record ReportBasis(String command, String build) {}
