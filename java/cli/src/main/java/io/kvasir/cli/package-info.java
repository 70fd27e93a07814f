/**
 * The command line. {@link io.kvasir.cli.Main} starts it. Package {@code command} has one class for
 * each command, package {@code option} has options, package {@code lines} has the operations that
 * commands read from JSON lines, package {@code terminal} has output, progress and exit codes, and
 * package {@code top} has the screen of {@code kvasir top}.
 */
@NullMarked
package io.kvasir.cli;

import org.jspecify.annotations.NullMarked;
