/**
 * Options that commands share, and where their values come from: flags, then environment variables,
 * then the file of {@code --config}, then defaults ({@link io.kvasir.cli.option.Settings}). {@link
 * io.kvasir.cli.option.RenamedOptions} keeps the names of earlier releases working.
 */
package io.kvasir.cli.option;
