/** Where tests find real request traces. */
package io.kvasir.testing.trace;
