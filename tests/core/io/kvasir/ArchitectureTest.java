package io.kvasir;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import io.kvasir.device.DeviceThatLeases;
import io.kvasir.execute.ExecutorThatGoesNative;
import io.kvasir.model.ModelThatHashes;
import io.kvasir.pool.PoolThatDrives;
import io.kvasir.rank.RankLedger;
import io.kvasir.rank.RankThatRoutes;
import io.kvasir.route.RouterThatBooks;
import io.kvasir.route.RouterThatLeases;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Keeps imports between the core's packages to the one direction that a request travels.
 *
 * <p>A wrong import is found in compiled code: inlined constants and Javadoc links do not count.
 */
class ArchitectureTest {

  private static final String ROOT = "io.kvasir.";

  /** What each package may use of ours, itself aside. */
  private static final Map<String, List<String>> ALLOWED =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("internal.nativelib", List.of()),
              Map.entry("model", List.of()),
              Map.entry("hash", List.of("model", "device", "internal.nativelib")),
              Map.entry("event", List.of("model", "hash")),
              Map.entry("index", List.of("model", "hash", "event", "internal.nativelib")),
              Map.entry("rank", List.of("model")),
              Map.entry("lockstep", List.of("model", "rank")),
              Map.entry("route", List.of("model", "rank")),
              Map.entry("select", List.of("model", "hash", "event", "index", "rank")),
              Map.entry("record", List.of("model", "event", "index")),
              Map.entry("pool", List.of("model", "hash", "event", "device", "internal.nativelib")),
              Map.entry("device", List.of("model", "internal.nativelib")),
              Map.entry("serve", List.of("model", "hash", "event")),
              Map.entry(
                  "execute",
                  List.of(
                      "model", "hash", "event", "rank", "route", "lockstep", "pool", "device"))));

  private static final ArchRule NO_CYCLES =
      slices().matching(ROOT + "(**)").should().beFreeOfCycles();

  private static final ArchRule ROUTERS_ONLY_READ_RANKS =
      noClasses()
          .that()
          .resideInAPackage(ROOT + "route")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(RankLedger.class);

  private static final ArchRule ONLY_DEVICE_TOUCHES_CUDA =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + "device")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("jcuda..", "org.bytedeco.cuda..");

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.kvasir");

  static Set<String> packages() {
    return ALLOWED.keySet();
  }

  private static ArchRule onlyAllowedImports(String name) {
    String[] allowed =
        Stream.concat(Stream.of(name), ALLOWED.get(name).stream())
            .map(ROOT::concat)
            .toArray(String[]::new);
    return classes()
        .that()
        .resideInAPackage(ROOT + name)
        .should()
        .onlyDependOnClassesThat(
            not(resideInAPackage("io.kvasir..")).or(resideInAnyPackage(allowed)))
        .allowEmptyShould(true);
  }

  @ParameterizedTest
  @MethodSource("packages")
  void importsOnlyWhatLiesUpstream(String name) {
    onlyAllowedImports(name).check(CORE);
  }

  @Test
  void everyPackageHasItsRule() {
    assertThat(CORE).isNotEmpty();
    assertThat(CORE.stream().map(type -> type.getPackageName().substring(ROOT.length())))
        .isSubsetOf(ALLOWED.keySet());
  }

  @Test
  void packagesFormNoCycle() {
    NO_CYCLES.check(CORE);
  }

  @Test
  void routersOnlyReadRanks() {
    ROUTERS_ONLY_READ_RANKS.check(CORE);
  }

  @Test
  void onlyTheDevicePackageTouchesCuda() {
    ONLY_DEVICE_TOUCHES_CUDA.check(CORE);
  }

  @Test
  void theRulesBite() {
    bites(onlyAllowedImports("model"), ModelThatHashes.class);
    bites(onlyAllowedImports("rank"), RankThatRoutes.class);
    bites(onlyAllowedImports("route"), RouterThatLeases.class);
    bites(onlyAllowedImports("execute"), ExecutorThatGoesNative.class);
    bites(onlyAllowedImports("device"), DeviceThatLeases.class);
    bites(ONLY_DEVICE_TOUCHES_CUDA, PoolThatDrives.class);
    bites(ROUTERS_ONLY_READ_RANKS, RouterThatBooks.class);
  }

  @Test
  void theCycleRuleBites() {
    ImportOption coreAndOneMore =
        location ->
            ImportOption.Predefined.DO_NOT_INCLUDE_TESTS.includes(location)
                || location.contains(RankThatRoutes.class.getSimpleName());
    JavaClasses withCycle =
        new ClassFileImporter().withImportOption(coreAndOneMore).importPackages("io.kvasir");
    EvaluationResult result = NO_CYCLES.evaluate(withCycle);
    assertThat(result.hasViolation()).isTrue();
    assertThat(result.getFailureReport().toString()).contains(RankThatRoutes.class.getSimpleName());
  }

  private static void bites(ArchRule rule, Class<?> wrong) {
    EvaluationResult result = rule.evaluate(new ClassFileImporter().importClasses(wrong));
    assertThat(result.hasViolation()).as("%s violates: %s", wrong, rule.getDescription()).isTrue();
    assertThat(result.getFailureReport().toString()).contains(wrong.getName());
  }
}
