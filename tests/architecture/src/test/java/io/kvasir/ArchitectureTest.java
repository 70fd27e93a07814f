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
 * Holds the imports between packages to exactly the edges that exist: a new edge fails, and so does
 * a listed edge that no class uses any more.
 *
 * <p>The test reads compiled code: inlined constants and Javadoc links do not count.
 */
@Tag("documents")
class ArchitectureTest {

  private static final String ROOT = "io.kvasir.";

  /** Each package and the packages of ours that it uses, itself excepted. */
  private static final Map<String, Set<String>> EDGES = edges();

  private static Map<String, Set<String>> edges() {
    Map<String, Set<String>> edges = new TreeMap<>();
    edges.put(
        "benchmarks",
        uses(
            "engine.adp",
            "engine.device",
            "engine.pool",
            "engine.pool.cuda",
            "event",
            "fleet.index",
            "fleet.load",
            "fleet.router",
            "fleet.wire",
            "hash",
            "internal.nativelib",
            "model"));
    edges.put("benchmarks.collective", uses("engine.lockstep"));
    edges.put(
        "benchmarks.index",
        uses(
            "engine.pool",
            "event",
            "fleet.index",
            "hash",
            "model",
            "simulator.report",
            "simulator.trace"));
    edges.put("benchmarks.proxy", uses("simulator.report"));
    edges.put("cli", uses("cli.command", "cli.terminal"));
    edges.put(
        "cli.command",
        uses(
            "benchmarks.collective",
            "benchmarks.index",
            "benchmarks.proxy",
            "cli.lines",
            "cli.lines.index",
            "cli.lines.route",
            "cli.option",
            "cli.terminal",
            "embedded",
            "embedded.disagg",
            "embedded.publish",
            "embedded.ranks",
            "engine.adp",
            "engine.device",
            "engine.execute",
            "engine.lockstep",
            "engine.pool",
            "exchange",
            "exchange.http",
            "fleet.record",
            "fleet.router",
            "gateway",
            "gateway.keys",
            "gateway.observe",
            "gateway.openai",
            "gateway.route",
            "gateway.tokens",
            "model",
            "simulator.compare",
            "simulator.fleet",
            "simulator.replay",
            "simulator.report",
            "simulator.timing",
            "simulator.trace",
            "simulator.workload",
            "tcp",
            "timing"));
    edges.put("cli.lines", uses("model"));
    edges.put(
        "cli.lines.fleet",
        uses(
            "cli.lines",
            "event",
            "fleet.index",
            "fleet.router",
            "fleet.router.booking",
            "fleet.router.trtllm",
            "hash",
            "model",
            "timing"));
    edges.put(
        "cli.lines.former",
        uses(
            "cli.lines",
            "cli.lines.fleet",
            "fleet.index",
            "fleet.load",
            "fleet.router",
            "fleet.router.booking",
            "fleet.router.trtllm",
            "hash",
            "model"));
    edges.put(
        "cli.lines.index",
        uses(
            "cli.lines",
            "cli.lines.fleet",
            "cli.lines.former",
            "event",
            "fleet.index",
            "fleet.router",
            "fleet.router.booking",
            "fleet.router.cost",
            "hash",
            "model"));
    edges.put(
        "cli.lines.route",
        uses(
            "cli.lines",
            "cli.lines.fleet",
            "cli.lines.former",
            "engine.adp",
            "engine.execute",
            "engine.pool",
            "hash",
            "model"));
    edges.put(
        "cli.option",
        uses(
            "benchmarks.index",
            "cli.terminal",
            "embedded",
            "embedded.disagg",
            "embedded.publish",
            "embedded.ranks",
            "engine.adp",
            "engine.device",
            "engine.execute",
            "engine.lockstep",
            "engine.pool",
            "exchange",
            "exchange.http",
            "fleet.router",
            "fleet.router.trtllm",
            "fleet.router.whatif",
            "gateway",
            "gateway.disagg",
            "gateway.keys",
            "gateway.proxy",
            "gateway.route",
            "gateway.worker",
            "hash",
            "model",
            "simulator.compare",
            "simulator.fleet",
            "simulator.replay",
            "simulator.trace",
            "simulator.workload",
            "tcp",
            "timing"));
    edges.put(
        "cli.terminal", uses("engine.device", "engine.lockstep", "model", "simulator.replay"));
    edges.put(
        "embedded",
        uses(
            "embedded.api",
            "embedded.disagg",
            "embedded.publish",
            "embedded.ranks",
            "embedded.standin",
            "engine.execute",
            "exchange",
            "exchange.http",
            "hash",
            "model"));
    edges.put("embedded.api", uses("exchange", "model"));
    edges.put(
        "embedded.disagg",
        uses("embedded.api", "embedded.ranks", "engine.execute", "exchange", "hash", "model"));
    edges.put("embedded.publish", uses("exchange", "model", "timing"));
    edges.put(
        "embedded.ranks",
        uses(
            "embedded.api",
            "embedded.publish",
            "engine.adp",
            "engine.execute",
            "engine.pool",
            "event",
            "exchange",
            "hash",
            "model",
            "timing"));
    edges.put(
        "embedded.standin",
        uses(
            "embedded.api",
            "embedded.disagg",
            "embedded.publish",
            "embedded.ranks",
            "engine.execute",
            "exchange"));
    edges.put("embedded.text", uses("embedded.api", "exchange", "model"));
    edges.put("engine.adp", uses("engine.pool", "model", "timing"));
    edges.put("engine.device", uses("internal.nativelib", "model"));
    edges.put(
        "engine.execute",
        uses(
            "engine.adp",
            "engine.device",
            "engine.lockstep",
            "engine.pool",
            "engine.pool.cuda",
            "hash",
            "model",
            "timing"));
    edges.put("engine.lockstep", uses("engine.adp", "engine.pool", "model"));
    edges.put("engine.pool", uses("event", "internal.nativelib", "model"));
    edges.put(
        "engine.pool.cuda",
        uses("engine.device", "engine.pool", "event", "internal.nativelib", "model"));
    edges.put("engine.pool.shared", uses("engine.pool", "internal.nativelib", "model"));
    edges.put("event", uses("hash", "model"));
    edges.put("exchange", uses());
    edges.put("exchange.http", uses("exchange", "model"));
    edges.put("fleet.index", uses("event", "hash", "internal.nativelib", "model"));
    edges.put("fleet.load", uses("model"));
    edges.put("fleet.record", uses("event", "model"));
    edges.put(
        "fleet.router", uses("event", "fleet.index", "fleet.load", "hash", "model", "timing"));
    edges.put(
        "fleet.router.booking",
        uses("event", "fleet.index", "fleet.load", "fleet.router", "hash", "model", "timing"));
    edges.put(
        "fleet.router.cost",
        uses(
            "event", "fleet.index", "fleet.load", "fleet.router", "fleet.router.booking", "model"));
    edges.put("fleet.router.legs", uses("fleet.router", "fleet.router.trtllm", "model"));
    edges.put(
        "fleet.router.projected",
        uses("fleet.load", "fleet.router", "fleet.router.booking", "hash", "model", "timing"));
    edges.put("fleet.router.trtllm", uses("event", "fleet.router", "hash", "model"));
    edges.put(
        "fleet.router.whatif",
        uses("event", "fleet.index", "fleet.load", "fleet.router", "hash", "model", "timing"));
    edges.put("fleet.wire", uses("event", "hash", "model", "timing"));
    edges.put(
        "gateway",
        uses(
            "exchange",
            "exchange.http",
            "fleet.index",
            "fleet.router",
            "gateway.admin",
            "gateway.disagg",
            "gateway.events",
            "gateway.keys",
            "gateway.observe",
            "gateway.openai",
            "gateway.proxy",
            "gateway.route",
            "gateway.tokens",
            "gateway.verify",
            "gateway.worker",
            "hash",
            "model"));
    edges.put(
        "gateway.admin",
        uses(
            "exchange",
            "fleet.index",
            "fleet.load",
            "fleet.router",
            "fleet.wire",
            "gateway.events",
            "gateway.observe",
            "gateway.proxy",
            "gateway.route",
            "gateway.tokens",
            "gateway.verify",
            "gateway.worker",
            "hash",
            "model"));
    edges.put(
        "gateway.disagg",
        uses(
            "exchange",
            "fleet.router",
            "fleet.router.cost",
            "fleet.router.trtllm",
            "gateway.openai",
            "gateway.route",
            "gateway.worker",
            "model"));
    edges.put(
        "gateway.events",
        uses(
            "event",
            "exchange",
            "fleet.index",
            "fleet.load",
            "fleet.router",
            "fleet.wire",
            "gateway.worker",
            "gateway.zmtp",
            "model",
            "timing"));
    edges.put("gateway.keys", uses("exchange"));
    edges.put("gateway.observe", uses("event", "fleet.index", "fleet.record", "model"));
    edges.put("gateway.openai", uses("exchange", "fleet.router", "model"));
    edges.put(
        "gateway.proxy",
        uses(
            "exchange",
            "fleet.index",
            "fleet.record",
            "fleet.router",
            "fleet.router.legs",
            "gateway.disagg",
            "gateway.keys",
            "gateway.observe",
            "gateway.openai",
            "gateway.route",
            "gateway.tokens",
            "gateway.verify",
            "gateway.worker",
            "hash",
            "model"));
    edges.put(
        "gateway.route",
        uses(
            "exchange",
            "fleet.index",
            "fleet.load",
            "fleet.router",
            "fleet.router.legs",
            "gateway.events",
            "gateway.verify",
            "gateway.worker",
            "model"));
    edges.put(
        "gateway.tokens",
        uses("exchange", "fleet.router", "gateway.openai", "gateway.route", "gateway.worker"));
    edges.put(
        "gateway.verify", uses("event", "exchange", "fleet.index", "fleet.wire", "hash", "model"));
    edges.put("gateway.worker", uses("exchange", "model"));
    edges.put("gateway.zmtp", uses());
    edges.put("hash", uses("internal.nativelib", "model"));
    edges.put("internal.nativelib", uses("model"));
    edges.put(
        "llama", uses("embedded", "embedded.text", "exchange", "internal.nativelib", "model"));
    edges.put("model", uses());
    edges.put("mpi", uses("engine.lockstep", "internal.nativelib", "model"));
    edges.put(
        "simulator.compare",
        uses(
            "engine.adp",
            "engine.execute",
            "engine.pool",
            "model",
            "simulator.fleet",
            "simulator.replay",
            "simulator.workload"));
    edges.put(
        "simulator.fleet",
        uses(
            "event",
            "fleet.router",
            "fleet.router.legs",
            "fleet.router.trtllm",
            "fleet.router.whatif",
            "hash",
            "model"));
    edges.put(
        "simulator.replay",
        uses(
            "engine.adp",
            "engine.device",
            "engine.execute",
            "engine.lockstep",
            "engine.pool",
            "event",
            "fleet.router",
            "hash",
            "model",
            "simulator.fleet",
            "simulator.workload",
            "timing"));
    edges.put(
        "simulator.report",
        uses(
            "engine.adp",
            "engine.execute",
            "engine.pool",
            "fleet.router",
            "fleet.router.whatif",
            "hash",
            "model",
            "simulator.compare",
            "simulator.fleet",
            "simulator.replay",
            "simulator.workload",
            "timing"));
    edges.put("simulator.timing", uses("model", "timing"));
    edges.put("simulator.trace", uses("fleet.record", "model"));
    edges.put(
        "simulator.workload", uses("engine.execute", "hash", "model", "simulator.trace", "timing"));
    edges.put("tcp", uses("engine.lockstep"));
    edges.put("timing", uses("model"));
    edges.put(
        "tokens", uses("gateway.tokens", "tokens.chat", "tokens.template", "tokens.tokenizer"));
    edges.put("tokens.chat", uses());
    edges.put("tokens.template", uses("tokens.template.python", "tokens.template.syntax"));
    edges.put("tokens.template.library", uses("tokens.template.python"));
    edges.put("tokens.template.python", uses());
    edges.put("tokens.template.syntax", uses("tokens.template.library", "tokens.template.python"));
    edges.put("tokens.tokenizer", uses());
    return edges;
  }

  /** Whether a package is listed, without the first part of its name. */
  static boolean isListed(String name) {
    return EDGES.containsKey(name);
  }

  /** The packages that a listed one uses. */
  static Set<String> usedBy(String name) {
    return EDGES.getOrDefault(name, Set.of());
  }

  private static Set<String> uses(String... packages) {
    return new TreeSet<>(List.of(packages));
  }

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
