/** The only door to the native library: static methods over addresses, used by the core alone. */
package io.kvasir.internal.nativelib;
