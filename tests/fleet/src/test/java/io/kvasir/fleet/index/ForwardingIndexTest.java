package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A method that is added to {@link PrefixIndex} reaches the index behind a wrapper. */
class ForwardingIndexTest {

  private static String signature(Method method) {
    return method.getName() + Arrays.toString(method.getParameterTypes());
  }

  @Test
  void everyMethodIsPassedOnDefaultsIncluded() {
    assertThat(Arrays.stream(ForwardingIndex.class.getDeclaredMethods()))
        .extracting(ForwardingIndexTest::signature)
        .containsAll(
            Arrays.stream(PrefixIndex.class.getDeclaredMethods())
                .filter(Predicate.not(Method::isSynthetic))
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(ForwardingIndexTest::signature)
                .toList());
  }
}
