/**
 * The command line. {@link io.kvasir.cli.Main} starts it; package {@code command} has one class for
 * each command, package {@code option} the options that commands share, package {@code lines} the
 * commands that read JSON lines, and package {@code terminal} output, progress and exit codes.
 */
package io.kvasir.cli;
