package io.kvasir.testing.harness;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** What all threads of this process and of its children do. Stateless. */
final class ThreadDumps {

  private static final Path JCMD = Path.of(System.getProperty("java.home"), "bin", "jcmd");
  private static final int CHILD_SECONDS = 10;

  private ThreadDumps() {}

  static void print(PrintStream out) {
    out.println("Threads of this process:");
    ThreadInfo[] threads = ManagementFactory.getThreadMXBean().dumpAllThreads(true, false);
    for (ThreadInfo thread : threads) {
      print(thread, out);
    }
    ProcessHandle.current().descendants().forEach(child -> print(child, out));
  }

  private static void print(ThreadInfo thread, PrintStream out) {
    LockInfo lock = thread.getLockInfo();
    String held = lock == null ? "" : " on " + lock;
    String owner = thread.getLockOwnerName() == null ? "" : " of " + thread.getLockOwnerName();
    out.println("\"" + thread.getThreadName() + "\" " + thread.getThreadState() + held + owner);
    for (StackTraceElement frame : thread.getStackTrace()) {
      out.println("    at " + frame);
    }
  }

  private static void print(ProcessHandle child, PrintStream out) {
    String command = child.info().command().orElse("?");
    out.println("Child process " + child.pid() + ", " + command + ":");
    if (!command.endsWith("java")) {
      return;
    }
    try {
      Process jcmd =
          new ProcessBuilder(JCMD.toString(), Long.toString(child.pid()), "Thread.print")
              .redirectErrorStream(true)
              .start();
      // A child that was stopped never answers.
      jcmd.onExit().orTimeout(CHILD_SECONDS, TimeUnit.SECONDS).exceptionally(late -> kill(jcmd));
      out.println(new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      out.println("(no threads: " + e + ")");
    }
  }

  private static Process kill(Process process) {
    return process.destroyForcibly();
  }
}
