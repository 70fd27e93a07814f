package io.kvasir.engine.device;

/** A kind of call of a {@link ShimDevice}. */
public enum ShimCall {
  FREE_BYTES,
  LOAD_MODULE,
  KERNEL,
  ALLOCATE,
  FREE,
  ALLOCATE_PINNED,
  FREE_PINNED,
  OPEN_STREAM,
  CLOSE_STREAM,
  OPEN_EVENT,
  CLOSE_EVENT,
  RECORD,
  AWAIT,
  ELAPSED,
  COPY,
  FILL,
  LAUNCH,
  SYNCHRONIZE,
  TRY_SYNCHRONIZE
}
