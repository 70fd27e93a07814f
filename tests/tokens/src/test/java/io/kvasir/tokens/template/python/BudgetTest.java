package io.kvasir.tokens.template.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What ends a rendering that uses up too much. */
class BudgetTest {

  private static void assertLimit(ThrowingCallable used) {
    assertThatExceptionOfType(TemplateFault.class)
        .isThrownBy(used)
        .matches(fault -> fault.kind() == TemplateFault.Kind.LIMIT);
  }

  private static Budget budget(long steps) {
    return new Budget(steps, 10, 2, Duration.ofSeconds(1), () -> 0);
  }

  @Test
  void theTimeIsLookedAtAllThousandSteps() {
    AtomicLong looks = new AtomicLong();
    Budget budget = new Budget(1 << 20, 10, 2, Duration.ofNanos(10), looks::incrementAndGet);
    for (int i = 0; i < 10 * 1024 + 1023; i++) {
      budget.step();
    }
    assertThat(looks).hasValue(11);
    assertLimit(budget::step);
  }

  @Test
  void sixteenCharactersAreAStep() {
    Budget budget = budget(10);
    budget.work(128);
    budget.step();
    assertLimit(budget::step);
  }

  @Test
  void sizesAndNestingAreBounded() {
    Budget budget = budget(10);
    budget.checkSize(10);
    assertLimit(() -> budget.checkSize(11));
    assertThat(budget.enter()).isEqualTo(1);
    budget.leave();
    budget.enter();
    assertThat(budget.enter()).isEqualTo(2);
    assertLimit(budget::enter);
  }
}
