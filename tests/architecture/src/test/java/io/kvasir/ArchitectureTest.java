package io.kvasir;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.kvasir.engine.adp.RouterThatDrives;
import io.kvasir.model.ModelThatHashes;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Holds the imports between packages to exactly the edges in package-edges.txt: a new edge fails,
 * and so does a listed edge that no class uses any more.
 *
 * <p>The test reads compiled code: inlined constants and Javadoc links do not count.
 */
@Tag("documents")
class ArchitectureTest {

  private static final String ROOT = "io.kvasir.";

  private static final Map<String, Set<String>> EDGES = PackageEdges.all();

  private static final ArchRule NO_CYCLES =
      slices().matching(ROOT + "(**)").should().beFreeOfCycles();

  private static final ArchRule ONLY_DEVICE_TOUCHES_CUDA =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + "engine.device")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("jcuda..", "org.bytedeco.cuda..");

  private static final JavaClasses PRODUCTION =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("/jmh_generated/"))
          .withImportOption(location -> !location.contains("/io/kvasir/testing/"))
          .importPackages("io.kvasir");

  private static Map<String, Set<String>> found(Collection<JavaClass> classes) {
    Map<String, Set<String>> found = new TreeMap<>();
    for (JavaClass type : classes) {
      Set<String> used = found.computeIfAbsent(name(type), any -> new TreeSet<>());
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().startsWith(ROOT) && !name(target).equals(name(type))) {
          used.add(name(target));
        }
      }
    }
    return found;
  }

  private static String name(JavaClass type) {
    return type.getPackageName().substring(ROOT.length());
  }

  @Test
  void packagesUseExactlyWhatIsListed() {
    Map<String, Set<String>> found = found(PRODUCTION.stream().toList());
    assertThat(found).isNotEmpty();
    assertThat(lines(found)).isEqualTo(lines(EDGES));
  }

  private static String lines(Map<String, Set<String>> edges) {
    return edges.entrySet().stream()
        .map(edge -> edge.getKey() + " -> " + String.join(" ", edge.getValue()))
        .collect(Collectors.joining("\n"));
  }

  @Test
  void engineAndFleetNeverMeet() {
    EDGES.forEach(
        (from, targets) ->
            assertThat(targets)
                .as(from)
                .noneMatch(
                    to ->
                        (from.startsWith("engine.") && to.startsWith("fleet."))
                            || (from.startsWith("fleet.") && to.startsWith("engine."))));
  }

  @Test
  void packagesFormNoCycle() {
    NO_CYCLES.check(PRODUCTION);
  }

  @Test
  void onlyTheDevicePackageTouchesCuda() {
    ONLY_DEVICE_TOUCHES_CUDA.check(PRODUCTION);
  }

  @Test
  void noTwoPublicTypesShareASimpleName() {
    Map<String, List<String>> bySimpleName =
        PRODUCTION.stream()
            .filter(type -> type.getModifiers().toString().contains("PUBLIC"))
            .filter(JavaClass::isTopLevelClass)
            .filter(type -> !type.getSimpleName().equals("package-info"))
            .collect(
                Collectors.groupingBy(
                    JavaClass::getSimpleName,
                    Collectors.mapping(JavaClass::getName, Collectors.toList())));
    assertThat(bySimpleName.values()).allMatch(types -> types.size() == 1);
  }

  @Test
  void plantedEdgesAreFound() {
    assertThat(importOf(ModelThatHashes.class)).containsEntry("model", Set.of("hash"));
    assertThat(ONLY_DEVICE_TOUCHES_CUDA.evaluate(classes(RouterThatDrives.class)).hasViolation())
        .isTrue();
  }

  private static Map<String, Set<String>> importOf(Class<?>... types) {
    return found(classes(types).stream().toList());
  }

  private static JavaClasses classes(Class<?>... types) {
    return new ClassFileImporter().importClasses(Arrays.asList(types));
  }
}
