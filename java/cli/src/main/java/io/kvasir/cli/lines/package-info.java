/**
 * Operations as JSON lines, each answered with one line. {@link io.kvasir.cli.lines.JsonLines}
 * reads lines and writes answers. {@link io.kvasir.cli.lines.Fields} reads and checks the fields of
 * a line. The operations themselves are in the packages below.
 */
@NullMarked
package io.kvasir.cli.lines;

import org.jspecify.annotations.NullMarked;
