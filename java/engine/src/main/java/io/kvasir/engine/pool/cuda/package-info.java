/**
 * Block pools in GPU memory, and the matcher of prompts on devices.
 *
 * <p>{@link io.kvasir.engine.pool.cuda.CudaBlockPool} keeps a ledger of its leases and a mirror of
 * its directory on the host, and sends all operations of a step to the device in one submission. It
 * accesses the device only through {@link io.kvasir.engine.device.DeviceApi}.
 */
@NullMarked
package io.kvasir.engine.pool.cuda;

import org.jspecify.annotations.NullMarked;
