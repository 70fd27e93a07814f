package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.StepTimingFile;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.simulator.timing.AnsweredRequest;
import io.kvasir.simulator.timing.EngineLog;
import io.kvasir.simulator.timing.InvalidLogException;
import io.kvasir.simulator.timing.StepTimingFit;
import io.kvasir.simulator.timing.StepsFit;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kvasir fit}: fits the step times of an engine to the log of its requests or steps. */
@Command(
    name = "fit",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Fits step times to the measured times of an engine's requests or steps, and prints them as a file for"
          + " --step-timing of 'kvasir replay': 'kvasir fit LOG > timing.json'. The error of the fit"
          + " goes to standard error.",
      ""
    },
    footer = {
      "",
      "A log has a JSON object for each request, with prompt_tokens, ttft_ms and optionally"
          + " cached_tokens, itl_ms, output_tokens, start_ms; or for each run, as 'vllm bench serve"
          + " --save-result --save-detailed' and 'sglang.bench_serving --output-details' write it; or"
          + " for each step, the forward-pass metrics of vLLM, SGLang and Dynamo as JSON.",
      "Exit codes: 0 done, 1 reading or writing failed, 2 wrong usage or an unusable log."
    })
final class FitCommand implements Callable<Integer> {

  private static final double PERCENT = 100;

  private final Console console;

  @Parameters(paramLabel = "LOG", arity = "1..*", description = "Logs of one rank of an engine.")
  private List<String> logs;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  FitCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    List<AnsweredRequest> requests = new ArrayList<>();
    List<ForwardPass> steps = new ArrayList<>();
    long failed = 0;
    for (String log : logs) {
      EngineLog.Contents contents = EngineLog.read(Values.path("LOG", log));
      requests.addAll(contents.requests());
      steps.addAll(contents.steps());
      failed += contents.failed();
    }
    StepTiming timing;
    try {
      timing = steps.isEmpty() ? ofRequests(requests, failed) : ofSteps(steps, requests);
    } catch (IllegalArgumentException e) {
      throw new InvalidLogException(String.join(", ", logs) + ": " + e.getMessage());
    }
    console.print(StepTimingFile.text(timing));
    return ExitCode.DONE;
  }

  private StepTiming ofRequests(List<AnsweredRequest> requests, long failed) {
    StepTimingFit fit = StepTimingFit.of(requests);
    report(fit, failed);
    return fit.timing();
  }

  private StepTiming ofSteps(List<ForwardPass> steps, List<AnsweredRequest> requests) {
    if (!requests.isEmpty()) {
      throw new IllegalArgumentException("have both requests and steps; name logs of one kind");
    }
    StepsFit fit = StepsFit.of(steps);
    StepTiming timing = fit.timing();
    StepOverheads overheads = timing.overheads();
    console.note(prefill(timing) + "; " + accuracy(fit.prefill(), "computed tokens"));
    console.note(
        String.format(
            Locale.ROOT,
            "decode of r requests with p = KV tokens / %,d: %.4g p + %.3g r + %.4g ms, r being a"
                + " multiple of %d; %s",
            timing.decodeKvTokens(),
            timing.decodeLinear(),
            overheads.decodeRequestMs(),
            timing.decodeConstantMs(),
            overheads.decodeGraphMultiple(),
            accuracy(fit.decode(), "KV tokens")));
    console.note(
        String.format(
            Locale.ROOT,
            "each step %.4g ms more; of prefill and decode in one step, %.0f %% of the shorter is"
                + " hidden; %s",
            overheads.allReduceMs(),
            PERCENT * overheads.mixedOverlap(),
            accuracy(fit.mixed(), "tokens")));
    return timing;
  }

  private void report(StepTimingFit fit, long failed) {
    StepTiming timing = fit.timing();
    if (failed > 0) {
      console.note(failed + " requests without an answer were left out");
    }
    if (fit.overlapped() > 0) {
      console.note(
          fit.overlapped()
              + " times to first token were left out: prefills of other requests overlap them");
    }
    if (!fit.started()) {
      console.note(
          "without start times (start_ms, start_times), no request counts as delayed by others");
    }
    console.note(prefill(timing) + "; " + accuracy(fit.prefill(), "computed tokens"));
    if (fit.decode().samples() == 0) {
      console.note("decode: the log has no gaps between tokens, so the defaults stay");
      return;
    }
    console.note(
        String.format(
            Locale.ROOT,
            "decode with p = KV tokens / %,d: %.4g p^2 + %.4g p + %.4g ms; %s",
            timing.decodeKvTokens(),
            timing.decodeQuadratic(),
            timing.decodeLinear(),
            timing.decodeConstantMs(),
            accuracy(fit.decode(), "KV tokens")));
  }

  private static String prefill(StepTiming timing) {
    return String.format(
        Locale.ROOT,
        "prefill of n tokens after c cached: %.3g n (n + 2 c) + %.4g n + %.4g ms",
        timing.prefillQuadratic(),
        timing.prefillLinear(),
        timing.prefillConstantMs());
  }

  private static String accuracy(StepTimingFit.Accuracy accuracy, String unit) {
    return String.format(
        Locale.ROOT,
        "error of %,d samples of %,d to %,d %s: median %.1f %%, p95 %.1f %%",
        accuracy.samples(),
        accuracy.from(),
        accuracy.to(),
        unit,
        PERCENT * accuracy.median(),
        PERCENT * accuracy.p95());
  }
}
