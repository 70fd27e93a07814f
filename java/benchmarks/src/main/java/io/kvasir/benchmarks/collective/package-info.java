/** The cost of a gather among processes: over TCP, over MPI, and in a C program. */
@NullMarked
package io.kvasir.benchmarks.collective;

import org.jspecify.annotations.NullMarked;
