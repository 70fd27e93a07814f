package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeftoversTest {

  private static final int MOST = 1 << 16;

  @Test
  void ofTooManyTheOldestAreForgotten() {
    Leftovers leftovers = new Leftovers();
    for (long id = 0; id < MOST + 2; id++) {
      leftovers.leave(id, false);
    }
    leftovers.end(0, 1);
    leftovers.stepped(5);
    assertThat(leftovers.waitedMs(1)).isZero();
    assertThat(leftovers.waitedMs(2)).isEqualTo(5);
    assertThat(leftovers.waitedMs(MOST + 1)).isEqualTo(5);
  }
}
