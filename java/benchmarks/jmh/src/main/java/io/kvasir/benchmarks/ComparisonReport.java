package io.kvasir.benchmarks;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs all benchmarks, one short fork each, in several rounds, and prints the tables of
 * docs/benchmarks-steps.md. Ratios are taken within a round. The median invocation of a fork is
 * used, which is robust against other load on the machine.
 */
public final class ComparisonReport {

  private static final int ROUNDS = 3;
  private static final TimeValue ITERATION = TimeValue.milliseconds(250);
  private static final List<String> JAVA_HASHES =
      List.of("hash4jBytes", "zeroAllocationInts", "zeroAllocationMemory");

  private ComparisonReport() {}

  /**
   * Prints the tables to standard output and the progress to standard error.
   *
   * @param arguments if present, passed to JMH's own command line instead
   * @throws IOException if JMH cannot write
   * @throws RunnerException if a benchmark fails
   */
  public static void main(String[] arguments) throws IOException, RunnerException {
    if (arguments.length > 0) {
      org.openjdk.jmh.Main.main(arguments);
      return;
    }
    Locale.setDefault(Locale.ROOT);
    Options options =
        new OptionsBuilder()
            .include("io\\.kvasir\\.benchmarks\\..*")
            .forks(1)
            .warmupIterations(3)
            .warmupTime(ITERATION)
            .measurementIterations(4)
            .measurementTime(ITERATION)
            .jvmArgs("-Xms2g", "-Xmx2g", "--enable-native-access=ALL-UNNAMED")
            .addProfiler(GCProfiler.class)
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT)
            .build();
    RoundResults results = new RoundResults();
    for (int round = 1; round <= ROUNDS; round++) {
      System.err.printf("round %d of %d%n", round, ROUNDS);
      for (RunResult result : new Runner(options).run()) {
        results.add(result);
      }
    }
    print(results);
  }

  private static void print(RoundResults results) {
    System.out.printf(
        "%s %s, %d processors, median of %d rounds%n",
        System.getProperty("java.vm.name"),
        System.getProperty("java.vm.version"),
        Runtime.getRuntime().availableProcessors(),
        ROUNDS);
    printMemory(results);
    printHashes(results);
    printProbes(results);
    printRoutes(results);
    printBatches(results);
    printConversations(results);
    printActiveSequences(results);
  }

  private static void printMemory(RoundResults results) {
    System.out.printf(
        "%nOne thread reads %.1f GB/s in a sweep, a line in %.1f ns if its address is known"
            + " beforehand, in %.0f ns if it depends on the previous line%n",
        MemoryReadBenchmark.SWEPT_BYTES / medianNs(results, "MemoryReadBenchmark.sweep"),
        medianNs(results, "MemoryReadBenchmark.scatteredLines") / MemoryReadBenchmark.LINES_READ,
        medianNs(results, "MemoryReadBenchmark.chainedLines") / MemoryReadBenchmark.LINES_READ);
  }

  private static void printHashes(RoundResults results) {
    System.out.printf(
        "%n| tokens per block | native us | GB/s | %s | best Java / native |%n|---|---|---|%s---|%n",
        String.join(" us | ", JAVA_HASHES) + " us", "---|".repeat(JAVA_HASHES.size()));
    for (int tokens : List.of(16, 32, 64)) {
      String format = "HashBenchmark.%s tokensPerBlock=" + tokens;
      String kvasir = format.formatted("kvasirNative");
      double ns = medianNs(results, kvasir);
      StringBuilder row = new StringBuilder();
      row.append(
          "| %d | %.2f | %.1f |".formatted(tokens, ns / 1e3, HashBenchmark.PROMPT_BYTES / ns));
      for (String java : JAVA_HASHES) {
        row.append(" %.2f |".formatted(medianNs(results, format.formatted(java)) / 1e3));
      }
      String best =
          JAVA_HASHES.stream()
              .map(format::formatted)
              .min(Comparator.comparingDouble(key -> medianNs(results, key)))
              .orElseThrow();
      System.out.printf("%s %s |%n", row, results.ratio(best, kvasir).text(2));
    }
  }

  private static void printProbes(RoundResults results) {
    String kvasir = "ProbeBenchmark.kvasirNative";
    System.out.printf("%n| probe | us | allocated bytes | against native |%n|---|---|---|---|%n");
    for (String name : List.of("kvasirNative", "fastutilSets", "fastutilSetsInHugePages")) {
      String key = "ProbeBenchmark." + name;
      System.out.printf(
          "| %s | %.1f | %.0f | %s |%n",
          name,
          medianNs(results, key) / 1e3,
          results.allocatedBytes(key).median(),
          results.ratio(key, kvasir).text(2));
    }
  }

  private static void printRoutes(RoundResults results) {
    System.out.printf("%n| router | ranks | tie | ns | allocated bytes |%n|---|---|---|---|---|%n");
    for (String router : List.of("default", "kv_cache_aware")) {
      for (int ranks : List.of(8, 64)) {
        for (boolean tie : List.of(false, true)) {
          String key =
              "RouteBenchmark.route ranks=%d router=%s tie=%s".formatted(ranks, router, tie);
          System.out.printf(
              "| %s | %d | %s | %s | %.0f |%n",
              router,
              ranks,
              tie ? "yes" : "no",
              results.timeNs(key).text(0),
              results.allocatedBytes(key).median());
        }
      }
    }
  }

  private static void printBatches(RoundResults results) {
    System.out.printf(
        "%n| router, batches of %d | ranks | ns a decision | allocated bytes a decision |%n"
            + "|---|---|---|---|%n",
        RouteBatchBenchmark.REQUESTS);
    for (String router : List.of("default", "kv_cache_aware", "conversation", "projected")) {
      for (int ranks : List.of(8, 64)) {
        String key = "RouteBatchBenchmark.route ranks=%d router=%s".formatted(ranks, router);
        System.out.printf(
            "| %s | %d | %s | %.0f |%n",
            router, ranks, results.timeNs(key).text(0), results.allocatedBytes(key).median());
      }
    }
  }

  private static void printConversations(RoundResults results) {
    String key = "ConversationBenchmark.sticky";
    System.out.printf(
        "%nA conversation router with %,d known conversations: %s ns and %.0f allocated bytes a"
            + " sticky decision, %.1f bytes a conversation besides its id%n",
        ConversationBenchmark.CONVERSATIONS,
        results.timeNs(key).text(0),
        results.allocatedBytes(key).median(),
        ConversationBenchmark.bytesPerConversation());
  }

  private static void printActiveSequences(RoundResults results) {
    System.out.printf(
        "%n| shared blocks of %d | us a cycle | M block touches/s | allocated bytes |%n"
            + "|---|---|---|---|%n",
        ActiveSequencesBenchmark.BLOCKS);
    for (int shared : List.of(0, 100)) {
      String key = "ActiveSequencesBenchmark.cycle sharedBlocks=" + shared;
      double ns = medianNs(results, key);
      System.out.printf(
          "| %d | %.2f | %.0f | %.0f |%n",
          shared,
          ns / 1e3,
          ActiveSequencesBenchmark.BLOCK_TOUCHES / ns * 1e3,
          results.allocatedBytes(key).median());
    }
  }

  private static double medianNs(RoundResults results, String key) {
    return results.timeNs(key).median();
  }
}
