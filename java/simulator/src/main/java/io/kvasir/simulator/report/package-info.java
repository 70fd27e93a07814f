/**
 * Formats replay results: {@link io.kvasir.simulator.report.TextReport} for people, {@link
 * io.kvasir.simulator.report.JsonReport} for machines. Both are pure functions of the results,
 * byte-for-byte the same in every locale.
 */
@NullMarked
package io.kvasir.simulator.report;

import org.jspecify.annotations.NullMarked;
