/** Output, progress, exit codes, and the machine that commands run on. */
package io.kvasir.cli.terminal;
