package io.kvasir.fleet.index;

/** Where the numbers of a rank's sequence begin. */
public enum FirstNumber {
  /**
   * At the first number received: earlier batches do not count as missing. An engine that starts
   * over is recognised by numbers that repeat with other content.
   */
  RECEIVED,
  /**
   * At zero: if the first number received is higher, the batches before it are missing. Repeated
   * numbers are ignored; the caller knows when an engine starts over.
   */
  ZERO
}
