/**
 * One class for each command, and what only one command needs: {@link
 * io.kvasir.cli.command.CommandRunner} parses a command line, runs the command, and turns every
 * failure into one line and an exit code.
 */
package io.kvasir.cli.command;
