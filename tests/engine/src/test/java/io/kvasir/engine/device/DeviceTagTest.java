package io.kvasir.engine.device;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that can run on a GPU are tagged, so that {@code tests/gpu/run} finds all of them. */
class DeviceTagTest {

  private static final ArchRule TAGGED =
      classes()
          .that()
          .haveSimpleNameEndingWith("Test")
          .and(describe("use TestDevices", DeviceTagTest::usesDevice))
          .should(ArchCondition.from(describe("be tagged 'device'", DeviceTagTest::isTagged)));

  private static final class ForgottenTest {
    private static boolean onGpu() {
      return TestDevices.onGpu();
    }
  }

  private static boolean usesDevice(JavaClass type) {
    return type.getDirectDependenciesFromSelf().stream()
        .anyMatch(dependency -> dependency.getTargetClass().isEquivalentTo(TestDevices.class));
  }

  private static boolean isTagged(JavaClass type) {
    return Stream.of(type.reflect().getAnnotationsByType(Tag.class))
        .anyMatch(tag -> tag.value().equals("device"));
  }

  @Test
  void testsOnDevicesAreTagged() {
    TAGGED.check(
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains(DeviceTagTest.class.getSimpleName()))
            .importPackages("io.kvasir"));
  }

  @Test
  void theRuleBites() {
    assertThat(ForgottenTest.onGpu()).isEqualTo(TestDevices.onGpu());
    assertThat(
            TAGGED
                .evaluate(new ClassFileImporter().importClasses(ForgottenTest.class))
                .hasViolation())
        .isTrue();
  }
}
