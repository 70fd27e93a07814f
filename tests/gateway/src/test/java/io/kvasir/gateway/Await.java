package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BooleanSupplier;

/** Waits for a state that no event announces. */
public final class Await {

  private static final int TRIES = 3_000;
  private static final int PAUSE_MS = 10;

  private Await() {}

  /**
   * Waits.
   *
   * @param state the state
   */
  public static void until(BooleanSupplier state) {
    until("the state", state);
  }

  /**
   * Waits.
   *
   * @param what the state in words
   * @param state the state
   */
  public static void until(String what, BooleanSupplier state) {
    for (int i = 0; i < TRIES && !state.getAsBoolean(); i++) {
      try {
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    assertThat(state.getAsBoolean()).as(what).isTrue();
  }
}
