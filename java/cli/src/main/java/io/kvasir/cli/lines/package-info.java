/**
 * Commands that read operations as JSON lines and answer each with one line. {@link
 * io.kvasir.cli.lines.JsonLines} reads and answers, {@link io.kvasir.cli.lines.Fields} reads what a
 * line says with checks. What the operations mean is not known here.
 */
package io.kvasir.cli.lines;
