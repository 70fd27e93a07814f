package io.kvasir.testing.harness;

import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.PreInterruptCallback;
import org.junit.jupiter.api.extension.PreInterruptContext;
import org.opentest4j.TestAbortedException;

/**
 * Prints what is needed to understand a failed test: the output of its processes, and when it
 * hangs, the threads of this process and of its children. JUnit registers it for all tests.
 */
public final class TestReport
    implements BeforeEachCallback, AfterTestExecutionCallback, PreInterruptCallback {

  /** Creates the extension. */
  public TestReport() {}

  @Override
  public void beforeEach(ExtensionContext context) {
    ChildProcess.beginTest();
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().filter(TestReport::isFailure).isPresent()) {
      System.out.println("-- " + context.getDisplayName() + " failed; its processes:");
      ChildProcess.ofTest().forEach(System.out::println);
    }
  }

  private static boolean isFailure(Throwable thrown) {
    return !(thrown instanceof TestAbortedException); // of an assumption: the test is skipped
  }

  @Override
  public void beforeThreadInterrupt(PreInterruptContext interrupt, ExtensionContext context) {
    System.out.println("-- " + context.getDisplayName() + " hangs");
    ThreadDumps.print(System.out);
  }
}
