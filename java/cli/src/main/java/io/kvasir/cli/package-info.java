/**
 * The command line: one class per command, which turns options into calls of the other modules and
 * their results into output, and nothing else.
 *
 * <p>{@link io.kvasir.cli.Main} runs a command. Values come from flags, then from {@code
 * KVASIR_OPTION_NAME} in the environment, then from defaults. Exit codes are 0 (done), 1 (the work
 * failed) and 2 (wrong usage, configuration or input); every error is one line on stderr.
 */
package io.kvasir.cli;
