package io.kvasir.mpi;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.Launch;
import io.kvasir.internal.nativelib.LibraryFolder;
import io.kvasir.internal.nativelib.PrivateFolder;
import io.kvasir.model.Errors;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compiles the shim with an mpicc and keeps it in the private folder of native libraries: one file
 * for each source, compiler and command that the compiler would run. Several processes may do so at
 * the same time. Stateless.
 */
final class MpiShim {

  /** Variable that names the compiler. */
  static final String COMPILER = "KVASIR_MPICC";

  private static final Logger LOG = LoggerFactory.getLogger(MpiShim.class);
  private static final List<String> SOURCES = List.of("shim.c", "mpi_shim.h");
  private static final List<String> OPTIONS =
      List.of("-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o");
  private static final long LIMIT_SECONDS = 120;
  private static final int MAX_OUTPUT_BYTES = 1 << 16;

  private MpiShim() {}

  /**
   * Returns the shim; compiles it if it is missing.
   *
   * @param environment variables by name
   * @param launch the launcher, whose own mpicc is preferred
   * @return the library
   * @throws IOException if there is no compiler, or it fails; the message has its output
   */
  static Path file(Map<String, String> environment, Optional<Launch> launch) throws IOException {
    Path compiler = compiler(environment, launch);
    String command = run(List.of(compiler.toString(), "-show"));
    Path folder = LibraryFolder.path().resolve("mpi-" + digest(compiler, command));
    Path library = folder.resolve("kvasir_mpi.so");
    if (!Files.isRegularFile(library)) {
      LOG.info("compiling the MPI shim with {}", compiler);
      compile(compiler, PrivateFolder.require(folder), library);
    }
    return library;
  }

  /** The compiler: the one that is named, else that of the launcher's MPI, else mpicc. */
  private static Path compiler(Map<String, String> environment, Optional<Launch> launch)
      throws IOException {
    String named = environment.getOrDefault(COMPILER, "");
    List<String> names = new ArrayList<>();
    if (!named.isBlank()) {
      names.add(named.strip());
    } else {
      // Debian installs several MPI libraries side by side, under these names.
      launch.ifPresent(
          by -> names.add("mpicc." + by.launcher().toLowerCase(Locale.ROOT).replace(" ", "")));
      names.add("mpicc");
    }
    for (String name : names) {
      Optional<Path> found = find(name, environment.getOrDefault("PATH", ""));
      if (found.isPresent()) {
        return found.get();
      }
    }
    throw new IOException(
        "MPI needs its compiler, but there is no "
            + Errors.shown(names.get(names.size() - 1))
            + " in PATH; install an MPI library for development (apt-get install libopenmpi-dev), or"
            + " set "
            + COMPILER);
  }

  private static Optional<Path> find(String name, String path) {
    Stream<Path> candidates =
        name.contains("/")
            ? Stream.of(Path.of(name))
            : Arrays.stream(path.split(File.pathSeparator, -1))
                .filter(folder -> folder.startsWith("/"))
                .map(folder -> Path.of(folder, name));
    return candidates.filter(Files::isExecutable).findFirst().map(Path::toAbsolutePath);
  }

  private static String digest(Path compiler, String command) throws IOException {
    try {
      MessageDigest sum = MessageDigest.getInstance("SHA-256");
      for (String source : SOURCES) {
        sum.update(resource(source));
      }
      sum.update(String.join(" ", OPTIONS).getBytes(UTF_8));
      sum.update(compiler.toRealPath().toString().getBytes(UTF_8));
      sum.update(command.getBytes(UTF_8));
      return HexFormat.of().formatHex(sum.digest(), 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = MpiShim.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new NoSuchFileException(name, null, "not in the jar");
      }
      return in.readAllBytes();
    }
  }

  /** Compiles into a folder of this process, so that the library appears whole. */
  private static void compile(Path compiler, Path folder, Path library) throws IOException {
    Path draft = Files.createTempDirectory(folder, "new-");
    try {
      for (String source : SOURCES) {
        Files.write(draft.resolve(source), resource(source));
      }
      Path compiled = draft.resolve("shim.so");
      List<String> command = new ArrayList<>(List.of(compiler.toString()));
      command.addAll(OPTIONS);
      command.addAll(
          List.of(compiled.toString(), draft.resolve(SOURCES.get(0)).toString(), "-lpthread"));
      compile(command);
      Files.move(
          compiled, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      try (Stream<Path> files = Files.list(draft)) {
        for (Path file : files.toList()) {
          Files.deleteIfExists(file);
        }
      }
      Files.deleteIfExists(draft);
    }
  }

  private static void compile(List<String> command) throws IOException {
    try {
      run(command);
    } catch (IOException e) {
      throw new IOException(
          e.getMessage()
              + "; if mpi.h is missing, install the MPI library for development (apt-get install"
              + " libopenmpi-dev or libmpich-dev)",
          e);
    }
  }

  /** The output of a command that succeeds. */
  private static String run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS)
        .execute(process::destroyForcibly);
    process.getOutputStream().close();
    try (InputStream in = process.getInputStream()) {
      String output = new String(in.readNBytes(MAX_OUTPUT_BYTES), UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(
            String.join(" ", command) + " fails: " + Errors.shown(output.strip()));
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + command.get(0) + " ran", e);
    } finally {
      process.destroyForcibly();
    }
  }
}
