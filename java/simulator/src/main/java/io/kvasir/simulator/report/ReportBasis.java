package io.kvasir.simulator.report;

/**
 * What reproduces a report.
 *
 * <p>Immutable.
 *
 * @param command the command line, with the variables that set options
 * @param build version and commit of Kvasir
 */
public record ReportBasis(String command, String build) {}
