/** Networks of their own for the processes of a test. */
package io.kvasir.testing.network;
