/**
 * Shows what replays measured: {@link io.kvasir.simulator.report.TextReport} to people, {@link
 * io.kvasir.simulator.report.JsonReport} to machines. Both are pure functions of the results, the
 * same to the byte in every locale.
 */
package io.kvasir.simulator.report;
