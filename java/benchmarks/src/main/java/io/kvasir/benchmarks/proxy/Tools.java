package io.kvasir.benchmarks.proxy;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Programs of the system, and what else comes from it.
 *
 * <p>Stateless.
 */
final class Tools {

  /** Folders that are not on everyone's path but have nginx. */
  private static final List<String> SYSTEM_FOLDERS = List.of("/usr/sbin", "/usr/local/sbin");

  private Tools() {}

  /** The path of a program; an exception with this message if there is none. */
  static String find(String name, String missing) throws IOException {
    String path = System.getenv("PATH");
    for (String folder : (path == null ? "" : path).split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, name))) {
        return Path.of(folder, name).toString();
      }
    }
    for (String folder : SYSTEM_FOLDERS) {
      if (Files.isExecutable(Path.of(folder, name))) {
        return Path.of(folder, name).toString();
      }
    }
    throw new IOException(missing);
  }

  /** The output of a short command, errors included; an exception if it fails. */
  static String output(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (await(process) != 0) {
      throw new IOException(String.join(" ", command) + " failed: " + output.strip());
    }
    return output;
  }

  /** Waits for the end of a process; kills it if this thread is interrupted. */
  static int await(Process process) throws IOException {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw interrupted(e);
    }
  }

  static void sleep(long ms) throws IOException {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(e);
    }
  }

  private static InterruptedIOException interrupted(InterruptedException cause) {
    InterruptedIOException e = new InterruptedIOException("interrupted");
    e.initCause(cause);
    return e;
  }

  /** The first of some adjoining ports of 127.0.0.1 that are free. */
  static int freePorts(int count) throws IOException {
    while (true) {
      int first = freePort();
      if (IntStream.range(first + 1, first + count).allMatch(Tools::isFree)) {
        return first;
      }
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }

  /** A free port of 127.0.0.1. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
