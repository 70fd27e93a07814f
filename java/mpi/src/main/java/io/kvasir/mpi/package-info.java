/**
 * Lock-step over MPI: the processes of mpirun or srun, and the collective among them. MPI is
 * fail-stop: when a member is lost, all others end.
 *
 * <p>Nothing is linked with an MPI library. A shim of a few functions is compiled with the
 * machine's own mpicc at first use.
 */
@NullMarked
package io.kvasir.mpi;

import org.jspecify.annotations.NullMarked;
