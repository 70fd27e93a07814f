/**
 * Block pools in GPU memory: the pool, the matcher that looks prompts up on devices, and the hasher
 * of tokens that already lie on a device.
 *
 * <p>{@link io.kvasir.engine.pool.cuda.CudaBlockPool} keeps a ledger of its leases and a mirror of
 * its directory on the host, and sends everything a step needs to the device in one submission. It
 * reaches the device through {@link io.kvasir.engine.device.DeviceApi} alone.
 */
package io.kvasir.engine.pool.cuda;
