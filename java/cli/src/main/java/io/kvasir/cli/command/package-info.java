/**
 * One class for each command, and classes that only commands use. {@link
 * io.kvasir.cli.command.CommandRunner} parses a command line, runs the command, and turns every
 * failure into one line and an exit code.
 */
@NullMarked
package io.kvasir.cli.command;

import org.jspecify.annotations.NullMarked;
