/**
 * The only door to the native library: static methods over addresses, and memory that both sides
 * see. Used by the core's own packages alone; what they pass must have been checked before.
 */
package io.kvasir.internal.nativelib;
