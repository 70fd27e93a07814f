package io.kvasir.fleet.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.cost.PolledRouter;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A method that is added to {@link FleetRouter} reaches the router behind a wrapper. */
class WrappersTest {

  private static String signature(Method method) {
    return method.getName() + Arrays.toString(method.getParameterTypes());
  }

  @ParameterizedTest
  @ValueSource(classes = {PolledRouter.class, WhatIfRouter.class})
  void everyMethodIsPassedOnDefaultsIncluded(Class<?> wrapper) {
    assertThat(Arrays.stream(wrapper.getDeclaredMethods()))
        .extracting(WrappersTest::signature)
        .containsAll(
            Arrays.stream(FleetRouter.class.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(WrappersTest::signature)
                .toList());
  }
}
