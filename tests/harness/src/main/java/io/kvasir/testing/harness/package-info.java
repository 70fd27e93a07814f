/** How tests wait, run other processes, and know how long to run. */
package io.kvasir.testing.harness;
