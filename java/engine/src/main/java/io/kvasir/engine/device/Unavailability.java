package io.kvasir.engine.device;

import java.util.Objects;

/**
 * Why a component cannot be used on this machine, and the remedy. Immutable.
 *
 * @param reason what is missing or wrong, in one line without a full stop
 * @param remedy what the user can do about it, in one line without a full stop
 */
public record Unavailability(String reason, String remedy) {

  /**
   * Makes an unavailability.
   *
   * @param reason what is missing or wrong
   * @param remedy what the user can do about it
   */
  public Unavailability {
    Objects.requireNonNull(reason, "reason");
    Objects.requireNonNull(remedy, "remedy");
  }
}
