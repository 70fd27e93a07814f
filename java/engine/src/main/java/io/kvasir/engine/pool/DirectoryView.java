package io.kvasir.engine.pool;

import io.kvasir.internal.nativelib.NativeHandle;

/**
 * A directory in native memory, for {@link DirectoryProbe}.
 *
 * @param owner the handle that keeps its memory
 * @param address its address, valid while a thread is inside {@code owner}
 */
public record DirectoryView(NativeHandle owner, long address) {}
