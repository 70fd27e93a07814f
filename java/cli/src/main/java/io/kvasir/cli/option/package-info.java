/**
 * Options of commands, and the sources of their values: flags, then environment variables, then the
 * file of {@code --config}, then defaults ({@link io.kvasir.cli.option.Settings}).
 */
@NullMarked
package io.kvasir.cli.option;

import org.jspecify.annotations.NullMarked;
