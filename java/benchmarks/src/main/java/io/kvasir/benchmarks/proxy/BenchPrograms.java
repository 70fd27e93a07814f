package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The compiled stub engine and load generator. Immutable.
 *
 * @param stubEngine an engine that streams words at a given pace
 * @param loadGenerator sends requests and checks and measures the answers
 */
public record BenchPrograms(Path stubEngine, Path loadGenerator) {

  private static final String SOURCES = "tests/gateway/bench";
  private static final List<String> SHARED = List.of("bench_io.c", "http_reader.c");
  private static final List<String> STUB_ENGINE =
      List.of("stub_engine.c", "stub_requests.c", "stub_replies.c", "timer_heap.c");
  private static final List<String> LOAD_GENERATOR =
      List.of("load_generator.c", "load_plan.c", "load_answer.c", "load_report.c");

  /**
   * Compiles the programs, which takes a second or two.
   *
   * @param root the repository
   * @param target the folder for the programs; made if it is missing
   * @return the programs
   * @throws IOException if there is no compiler, or it fails
   */
  public static BenchPrograms compile(Path root, Path target) throws IOException {
    Path sources = root.resolve(SOURCES);
    if (!Files.isDirectory(sources)) {
      throw new IOException(sources + ": no such folder; the programs are compiled from there");
    }
    Files.createDirectories(target);
    return new BenchPrograms(
        compile(sources, STUB_ENGINE, target.resolve("stub_engine")),
        compile(sources, LOAD_GENERATOR, target.resolve("load_generator")));
  }

  private static Path compile(Path sources, List<String> files, Path program) throws IOException {
    String compiler =
        Tools.find("cc", "the C compiler is missing. Install it: apt-get install gcc libc6-dev");
    List<String> command = new ArrayList<>();
    command.addAll(List.of(compiler, "-std=c11", "-O2", "-Wall", "-o", program.toString()));
    for (List<String> part : List.of(files, SHARED)) {
      part.forEach(file -> command.add(sources.resolve(file).toString()));
    }
    Tools.output(command);
    return program;
  }
}
