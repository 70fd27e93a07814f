/** Output, progress, exit codes, and the view of the machine that commands have. */
package io.kvasir.cli.terminal;
