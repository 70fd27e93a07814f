/* What the library for Java calls of MPI. The shim that has these functions is compiled with the
 * mpicc of the machine that it runs on, because handles and binary interfaces of MPI libraries
 * differ; nothing else is linked with MPI. Plain C. */
#ifndef KVASIR_MPI_SHIM_H
#define KVASIR_MPI_SHIM_H

#include <stdint.h>

#define KVASIR_MPI_SHIM_VERSION 1

/* Results. Others are negated error codes of MPI. */
enum {
  KVASIR_MPI_DONE = 0,
  KVASIR_MPI_TIMEOUT = 1, /* a member was silent; `present` names the others */
  KVASIR_MPI_STOPPED = 2  /* another thread has called stop() */
};

struct kvasir_mpi_functions {
  int32_t version;

  /* Initialises MPI, once per process. facts: rank, size, local rank, local size. */
  int (*start)(int32_t* facts, char* problem, int32_t problem_bytes);

  /* Gathers `bytes` bytes of every member into `received`, in member order. Waits at most
   * `timeout_ns`, then finds out which members are in a gather too: 1 for each of those in
   * `present`, which has an entry per member. After any result but KVASIR_MPI_DONE nothing more can
   * be gathered, and buffers stay in use until the process ends. */
  int (*gather)(const void* sent, int32_t bytes, void* received, int64_t timeout_ns,
                uint8_t* present);

  /* The same for frames of different lengths, which every member knows. */
  int (*gather_lengths)(const void* sent, const int32_t* lengths, void* received,
                        int64_t timeout_ns, uint8_t* present);

  /* Ends the wait of a gather in another thread. */
  void (*stop)(void);

  /* Ends MPI. All members must have agreed to call it. */
  int (*finish)(void);

  /* Ends all members and this process, with that exit code. */
  void (*abort)(int32_t exit_code);

  /* What a result means. */
  void (*explain)(int result, char* text, int32_t text_bytes);

  /* Name and version of the MPI library. */
  void (*library)(char* text, int32_t text_bytes);
};

#ifdef __cplusplus
extern "C"
#endif
    /* The functions of a shim; the symbol is looked up by this name. */
    const struct kvasir_mpi_functions*
    kvasir_mpi_shim(void);

#endif
