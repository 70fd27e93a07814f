package io.kvasir.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ScreenSizeTest {

  @Test
  void theEnvironmentSaysTheSize() throws Exception {
    assertThat(ScreenSize.of(Map.of(), false)).isEqualTo(new ScreenSize(80, 24));
    assertThat(ScreenSize.of(Map.of("COLUMNS", "120", "LINES", "50"), true))
        .isEqualTo(new ScreenSize(120, 50));
    assertThat(ScreenSize.of(Map.of("COLUMNS", "many", "LINES", "0"), false))
        .isEqualTo(new ScreenSize(80, 24));
    assertThat(ScreenSize.of(Map.of("COLUMNS", "1", "LINES", "99999"), false))
        .isEqualTo(new ScreenSize(20, 1_000));
  }
}
