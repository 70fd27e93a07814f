/** Devices for tests: a CUDA driver without a device, for processes of their own. */
package io.kvasir.testing.device;
