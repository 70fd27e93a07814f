/** Output, progress, exit codes, and the machine that commands run on. */
@NullMarked
package io.kvasir.cli.terminal;

import org.jspecify.annotations.NullMarked;
