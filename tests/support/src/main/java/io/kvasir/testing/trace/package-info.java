/** Locates real request traces for tests. */
package io.kvasir.testing.trace;
