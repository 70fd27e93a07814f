package io.kvasir.execute;

import io.kvasir.internal.nativelib.KvasirLibrary;

/**
 * Wrong on purpose: an executor passes the pool by on its way to native code.
 *
 * @param library the door to native code
 */
public record ExecutorThatGoesNative(KvasirLibrary library) {}
