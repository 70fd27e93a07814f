/** Devices for tests: a CUDA driver without a device, for separate processes. */
package io.kvasir.testing.device;
