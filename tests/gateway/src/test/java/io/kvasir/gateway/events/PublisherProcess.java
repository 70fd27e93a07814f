package io.kvasir.gateway.events;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A publisher in another language, as a process of its own. */
final class PublisherProcess implements AutoCloseable {

  static final int TOKENS_PER_BLOCK = 16;

  private static final Path SOURCES =
      Path.of(System.getProperty("kvasir.root", "../.."), "tests/gateway/publishers");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** For npm, too, which downloads packages. */
  private static final long LIMIT_MS = 5L * Await.limitMs();

  private final ChildProcess process;
  private final JsonNode ports;
  private int answered;

  private PublisherProcess(Path folder, String... command) throws IOException {
    process = start(folder, command);
    ports = answer();
  }

  private static ChildProcess start(Path folder, String... command) throws IOException {
    return ChildProcess.start(
        command[0], new ProcessBuilder(List.of(command)).directory(folder.toFile()));
  }

  /** Starts the publisher of a language; skips the test if its packages cannot be had. */
  static PublisherProcess start(String language, long seed, String form, String replay)
      throws IOException, InterruptedException {
    String[] arguments = {Long.toString(seed), form, replay};
    return switch (language) {
      case "python" -> new PublisherProcess(SOURCES, with(python(), "publisher.py", arguments));
      case "node" -> new PublisherProcess(nodeFolder(), with("node", "publisher.mjs", arguments));
      default -> throw new IllegalArgumentException(language);
    };
  }

  private static String[] with(String program, String script, String[] arguments) {
    return Stream.concat(Stream.of(program, script), Stream.of(arguments)).toArray(String[]::new);
  }

  /** The first interpreter that has the packages. */
  private static String python() throws InterruptedException {
    String given = System.getenv("KVASIR_PYTHON");
    String test = "import zmq\ntry:\n import msgspec\nexcept ImportError:\n import msgpack";
    for (String python :
        given == null || given.isBlank()
            ? new String[] {"python3", "/usr/bin/python3"}
            : new String[] {given, "python3", "/usr/bin/python3"}) {
      if (succeeds(Path.of("."), python, "-c", test)) {
        return python;
      }
    }
    assumeTrue(
        false,
        "no Python with pyzmq and msgspec or msgpack:"
            + " apt-get install python3-zmq python3-msgpack, or name one in KVASIR_PYTHON");
    throw new AssertionError();
  }

  private static Path nodeFolder() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(Path.of("target", "publishers"));
    for (String name : List.of("package.json", "package-lock.json", "publisher.mjs")) {
      Files.copy(SOURCES.resolve(name), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
    assumeTrue(
        succeeds(folder, "node", "--version"), "node is missing: apt-get install nodejs npm");
    if (!Files.isDirectory(folder.resolve("node_modules/zeromq"))) {
      assumeTrue(
          succeeds(folder, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"),
          "npm cannot install zeromq and @msgpack/msgpack");
    }
    return folder;
  }

  private static boolean succeeds(Path folder, String... command) throws InterruptedException {
    try (ChildProcess process = start(folder, command)) {
      return process.process().waitFor(LIMIT_MS, TimeUnit.MILLISECONDS) && process.exitCode() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  String live() {
    return "tcp://127.0.0.1:" + ports.get("live").asInt();
  }

  String replay() {
    return "tcp://127.0.0.1:" + ports.get("replay").asInt();
  }

  void publish(int batches) throws IOException {
    command("publish " + batches);
  }

  void lose(int batches) throws IOException {
    command("lose " + batches);
  }

  void restart() throws IOException {
    command("restart");
  }

  /** The sequence hash of each block that is held, by its handle. */
  Map<Long, Long> truth() throws IOException {
    JsonNode blocks = command("truth").get("blocks");
    NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
    Map<String, Long> byName = new HashMap<>();
    Map<Long, Long> truth = new HashMap<>();
    for (JsonNode block : blocks) { // parents come before children
      int[] tokens = new int[TOKENS_PER_BLOCK];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = block.get(2).get(i).asInt();
      }
      long local = hasher.hash(tokens, CacheScope.NONE).local()[0];
      String parent = block.get(1).isNull() ? null : block.get(1).asText();
      long sequence =
          parent == null
              ? hasher.hash(tokens, CacheScope.NONE).sequence()[0]
              : mix(byName.get(parent), local);
      byName.put(block.get(0).asText(), sequence);
      truth.put(Long.parseUnsignedLong(block.get(0).asText()), sequence);
    }
    return truth;
  }

  /** Kvasir's chaining of a block to its parent. */
  private static long mix(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    return x ^ (x >>> 28);
  }

  private JsonNode command(String line) throws IOException {
    process.input().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.input().flush();
    return answer();
  }

  /** The next line of its output. */
  private JsonNode answer() throws IOException {
    process.await("has answered", () -> process.output().lines().skip(answered).count() > 0);
    return JSON.readTree(process.output().lines().skip(answered++).findFirst().orElseThrow());
  }

  @Override
  public void close() {
    process.close();
  }
}
