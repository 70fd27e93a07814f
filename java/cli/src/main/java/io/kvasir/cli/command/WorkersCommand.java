package io.kvasir.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.PlainText;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kvasir workers}: lists and changes the workers of a running gateway. */
@Command(
    name = "workers",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Lists the workers of a running gateway, and changes them while it serves. 'add' also changes a"
          + " worker with other keys. 'cordon' keeps new requests away, 'uncordon' lets them come"
          + " again, 'drain' also waits until none is left, 'weight' limits its share of the requests,"
          + " and 'remove' lets those in progress end.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 the gateway refused or cannot be reached, or the time of --wait-seconds is"
          + " over, 2 wrong usage."
    })
final class WorkersCommand extends AdminCommand implements Callable<Integer> {

  private static final String KEY_FILE = "--admin-key-file";
  private static final String WORKER = "WORKER";
  private static final String WEIGHT = "WEIGHT";
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long POLL_MS = 100;
  private static final double LEAST_WEIGHT = 1e-6;

  private final Console console;

  enum Verb {
    LIST,
    ADD,
    CORDON,
    UNCORDON,
    DRAIN,
    WEIGHT,
    REMOVE
  }

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "list|add|cordon|uncordon|drain|weight|remove",
      defaultValue = "list",
      description = "What to do (default: ${DEFAULT-VALUE}).")
  private String verb;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = WORKER,
      description =
          "The worker's id, as 'list' shows it; for 'add', URL[,KEY=VALUE]... as 'kvasir serve"
              + " --worker' takes it.")
  private @Nullable String worker;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = WEIGHT,
      description =
          "For 'weight': above 0 and at most 1, the weight of a worker that is not limited.")
  private @Nullable String weight;

  private final Declared<Path> keyFile =
      path(KEY_FILE).help(2, "Has the key of the gateway's --admin-key-file (default: none).");

  private final Declared<Long> waitMs =
      seconds("--wait-seconds", "60")
          .help(
              3,
              "Longest wait until an added worker is healthy, and until a drained or removed one has"
                  + " no requests");

  @Mixin private FormatOption format;

  WorkersCommand(Console console) {
    this.console = console;
  }

  private @Nullable String key() {
    if (!keyFile.isGiven()) {
      return null;
    }
    try {
      return Files.readString(keyFile.value()).strip();
    } catch (IOException e) {
      throw new UsageException(KEY_FILE, "cannot be read: " + Errors.reason(e));
    }
  }

  @Override
  public Integer call() throws Exception {
    Verb what = Values.choice("the first word", verb, Verb.class);
    AdminClient admin = admin(key(), TIMEOUT);
    if (what == Verb.LIST) {
      if (worker != null) {
        throw new UsageException(WORKER, "has no effect with list");
      }
      show(admin.workers());
      return ExitCode.DONE;
    }
    String id = worker;
    if (id == null) {
      throw new UsageException(WORKER, "is missing: " + verb + " needs one");
    }
    if (what != Verb.WEIGHT && weight != null) {
      throw new UsageException(WEIGHT, "has no effect with " + verb);
    }
    return change(admin, what, id);
  }

  private int change(AdminClient admin, Verb what, String id)
      throws IOException, InterruptedException, Console.OutputException {
    switch (what) {
      case ADD -> {
        String added = admin.add(id).path("worker_id").asText();
        return await(admin, added, "is not healthy", 1, each -> each.path("healthy").asBoolean());
      }
      case WEIGHT -> {
        if (weight == null) {
          throw new UsageException(WEIGHT, "is missing");
        }
        show(admin.weigh(id, Values.number(WEIGHT, weight, LEAST_WEIGHT, 1)));
        return ExitCode.DONE;
      }
      case DRAIN -> {
        admin.cordon(id, true); // a request that was placed before can be sent a moment later
        return await(
            admin, id, "still has requests", 2, each -> each.path("active_requests").asInt() == 0);
      }
      case REMOVE -> {
        admin.remove(id);
        return await(
            admin,
            id,
            "still has requests",
            1,
            each -> !each.path("state").asText().equals("leaving"));
      }
      default -> {
        show(admin.cordon(id, what == Verb.CORDON));
        return ExitCode.DONE;
      }
    }
  }

  /** A state of a worker. */
  private interface State {
    boolean met(JsonNode worker);
  }

  /** Waits until looks in a row find a state, or until the worker has gone. */
  private int await(AdminClient admin, String id, String otherwise, int looks, State state)
      throws IOException, InterruptedException, Console.OutputException {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs.value());
    int met = 0;
    while (true) {
      JsonNode now = admin.worker(id);
      if (now == null) {
        console.note("worker " + id + " has gone");
        return ExitCode.DONE;
      }
      met = state.met(now) ? met + 1 : 0;
      if (met == looks) {
        show(now);
        return ExitCode.DONE;
      }
      if (met == 0 && System.nanoTime() - endNs >= 0) {
        console.note("worker " + id + " " + otherwise + problems(now));
        return ExitCode.FAILED;
      }
      Thread.sleep(POLL_MS);
    }
  }

  private static String problems(JsonNode worker) {
    StringBuilder text = new StringBuilder();
    worker.path("problems").forEach(each -> text.append(": ").append(each.asText()));
    return PlainText.of(text.toString());
  }

  private void show(JsonNode workers) throws Console.OutputException {
    if (!format.isText()) {
      console.print(workers + "\n");
      return;
    }
    Iterable<JsonNode> all = workers.isArray() ? workers : List.of(workers);
    StringBuilder text =
        new StringBuilder(line("worker", "state", "role", "weight", "ranks", "requests"));
    for (JsonNode each : all) {
      boolean healthy = each.path("healthy").asBoolean();
      text.append(
          line(
              PlainText.of(each.path("worker_id").asText()),
              healthy ? each.path("state").asText() : "unhealthy",
              each.path("role").asText(),
              each.path("weight").asText(),
              each.path("ranks").asText(),
              each.path("active_requests").asText()));
      if (!healthy) {
        text.append("  ").append(problems(each).replaceFirst("^: ", "")).append('\n');
      }
    }
    console.print(text.toString());
  }

  private static String line(String... cells) {
    return String.format(Locale.ROOT, "%-32s %-10s %-8s %6s %5s %9s%n", (Object[]) cells);
  }
}
