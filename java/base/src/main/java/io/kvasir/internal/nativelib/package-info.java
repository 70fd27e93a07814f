/**
 * The only access to the native library: static methods that take addresses, and memory shared with
 * it. Only Kvasir's own packages use it. Callers must check all arguments.
 */
@NullMarked
package io.kvasir.internal.nativelib;

import org.jspecify.annotations.NullMarked;
