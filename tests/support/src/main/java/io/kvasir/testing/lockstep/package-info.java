/** A collective whose members are threads of one process. */
package io.kvasir.testing.lockstep;
