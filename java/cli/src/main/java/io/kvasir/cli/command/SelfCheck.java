package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.WorkerProblems;
import java.io.IOException;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/**
 * Waits for a gateway's workers, sends it one streamed request over its public port, and lists how
 * exactly requests are routed and what is wrong with the descriptions of workers. Stateless.
 */
final class SelfCheck {

  private static final int MAX_SHOWN_CHARACTERS = 2_000;
  private static final int POLL_MS = 50;

  private SelfCheck() {}

  /**
   * Checks a gateway.
   *
   * @param host the host that it listens on
   * @param patienceSeconds how long workers that have not answered yet are waited for
   * @return whether the gateway answered, and no worker contradicts its description
   */
  static boolean run(Gateway gateway, String host, Console console, int patienceSeconds)
      throws IOException, InterruptedException {
    awaitWorkers(gateway, console, patienceSeconds);
    boolean answered = sendRequest(gateway, host, console);
    if (answered) {
      StartupProbe.run(gateway, host, console);
    }
    return isAsDescribed(gateway, console) && answered;
  }

  /** Waits for workers that have not answered yet. */
  static void awaitWorkers(Gateway gateway, Console console, int patienceSeconds)
      throws InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
    if (gateway.fleets().silent() > 0 && patienceSeconds > 0) {
      console.note(
          "kvasir: waiting at most "
              + patienceSeconds
              + " s (--check-seconds) for workers: "
              + WorkerProblems.of(gateway.fleets().workers()));
    }
    while (gateway.fleets().silent() > 0 && System.nanoTime() - endNs < 0) {
      Thread.sleep(POLL_MS);
    }
    if (gateway.fleets().silent() > 0) {
      console.note(
          "kvasir: workers that have not answered: "
              + WorkerProblems.of(gateway.fleets().workers()));
    }
  }

  private static boolean isAsDescribed(Gateway gateway, Console console) {
    boolean good = true;
    for (ModelFleet fleet : gateway.fleets().fleets().values()) {
      for (FleetWorker worker : fleet.workers()) {
        for (String problem : fleet.problems(worker)) {
          console.note("kvasir: the check found worker " + worker.name() + ": " + problem);
          good = false;
        }
      }
    }
    return good;
  }

  private static boolean sendRequest(Gateway gateway, String host, Console console)
      throws IOException {
    Iterator<String> models = gateway.fleets().models().iterator();
    if (!models.hasNext()) {
      console.note("kvasir: no worker is healthy");
      return false;
    }
    String body =
        "{\"model\":"
            + JsonText.quoted(models.next())
            + ",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
            + "\"max_tokens\":4,\"stream\":true}";
    OwnRequest.Answer answer = OwnRequest.send(gateway, host, "/v1/chat/completions", body);
    boolean answered = answer.status() == 200 && answer.text().endsWith("data: [DONE]\n\n");
    String shown =
        answer.text().substring(0, Math.min(answer.text().length(), MAX_SHOWN_CHARACTERS));
    console.note(
        answered
            ? "kvasir: the check was answered"
            : "kvasir: the check failed with status " + answer.status() + ": " + shown);
    return answered;
  }
}
