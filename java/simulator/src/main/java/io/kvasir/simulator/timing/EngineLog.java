package io.kvasir.simulator.timing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvasir.model.Errors;
import io.kvasir.timing.ForwardPass;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the times of an engine's requests or steps from JSON. Three forms; the first two also
 * mixed:
 *
 * <ul>
 *   <li>An object for each request: {@code prompt_tokens} and {@code ttft_ms}, and optionally
 *       {@code cached_tokens}, {@code itl_ms} (a list of gaps, or their mean with {@code
 *       output_tokens}) and {@code start_ms}.
 *   <li>An object for each run: the detailed result of vLLM's {@code vllm bench serve} and SGLang's
 *       {@code sglang.bench_serving}, with {@code input_lens}, {@code ttfts} and {@code itls}, in
 *       seconds, and, where present, {@code start_times} and {@code errors}.
 *   <li>An object for each step: the forward-pass metrics of Dynamo, as vLLM and SGLang publish
 *       them in MessagePack, with {@code wall_time} in seconds and {@code scheduled_requests}.
 * </ul>
 *
 * <p>Stateless.
 */
public final class EngineLog {

  private static final double MS_PER_S = 1e3;
  private static final double NS_PER_S = 1e9;

  /** Longest step in seconds. */
  private static final double MAX_SECONDS = 3600;

  private static final String RUN = "ttfts";
  private static final String STEP = "wall_time";

  private EngineLog() {}

  /**
   * What a file has, and what was left out: requests or steps.
   *
   * @param requests the answered requests
   * @param failed requests without an answer
   * @param steps the steps
   */
  public record Contents(List<AnsweredRequest> requests, long failed, List<ForwardPass> steps) {}

  /**
   * Reads a file. O(bytes).
   *
   * @param file the file
   * @return the requests or steps
   * @throws InvalidLogException if it is missing or empty, or an object is invalid
   * @throws IOException if it cannot be read
   */
  public static Contents read(Path file) throws IOException {
    JsonMapper json =
        JsonMapper.builder().disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION).build();
    List<AnsweredRequest> requests = new ArrayList<>();
    List<ForwardPass> steps = new ArrayList<>();
    long failed = 0;
    try (InputStream in = Files.newInputStream(file);
        MappingIterator<JsonNode> objects = json.readerFor(JsonNode.class).readValues(in)) {
      while (objects.hasNextValue()) {
        JsonNode object = objects.nextValue();
        int line = objects.getCurrentLocation().getLineNr();
        try {
          if (object.has(RUN)) {
            failed += addRun(object, requests);
          } else if (object.has(STEP)) {
            steps.add(step(object));
          } else {
            requests.add(request(object));
          }
        } catch (IllegalArgumentException e) {
          throw new InvalidLogException(file + ":" + line + ": " + Errors.reason(e));
        }
      }
    } catch (NoSuchFileException e) {
      throw new InvalidLogException(Errors.shown(file) + ": no such file");
    } catch (JsonProcessingException e) {
      throw new InvalidLogException(
          file + ":" + e.getLocation().getLineNr() + ": not JSON: " + e.getOriginalMessage());
    }
    if (requests.isEmpty() && steps.isEmpty()) {
      throw new InvalidLogException(file + ": has no answered requests and no steps");
    }
    return new Contents(requests, failed, steps);
  }

  private static ForwardPass step(JsonNode object) {
    double seconds = number(object.path(STEP), STEP);
    if (!(seconds >= 0 && seconds <= MAX_SECONDS)) {
      throw new IllegalArgumentException(
          STEP + " must be from 0 to " + MAX_SECONDS + " seconds, not " + seconds);
    }
    JsonNode scheduled = object.path("scheduled_requests");
    if (!scheduled.isObject()) {
      throw new IllegalArgumentException("scheduled_requests must be an object");
    }
    return new ForwardPass(
        Math.round(seconds * NS_PER_S),
        count(scheduled, "num_prefill_requests", 0),
        count(scheduled, "sum_prefill_tokens", 0),
        count(scheduled, "sum_prefill_kv_tokens", 0),
        count(scheduled, "num_decode_requests", 0),
        count(scheduled, "sum_decode_kv_tokens", 0));
  }

  private static AnsweredRequest request(JsonNode object) {
    if (!object.isObject()) {
      throw new IllegalArgumentException("must be an object");
    }
    int prompt = count(object, "prompt_tokens", -1);
    int cached = count(object, "cached_tokens", 0);
    JsonNode gaps = object.path("itl_ms");
    double[] gapsMs = {};
    if (gaps.isArray()) {
      gapsMs = numbers(gaps, "itl_ms", 1);
    } else if (!gaps.isMissingNode() && !gaps.isNull()) {
      double meanMs = number(gaps, "itl_ms");
      gapsMs = new double[Math.max(0, count(object, "output_tokens", -1) - 1)];
      Arrays.fill(gapsMs, meanMs);
    }
    double startMs =
        object.has("start_ms") ? number(object.get("start_ms"), "start_ms") : Double.NaN;
    boolean all = cached == prompt && prompt > 0; // the engine computes the last token again
    return new AnsweredRequest(
        startMs,
        prompt,
        all ? prompt - 1 : cached,
        number(object.path("ttft_ms"), "ttft_ms"),
        gapsMs);
  }

  /** Adds the requests of a run; returns how many have no answer. */
  private static long addRun(JsonNode run, List<AnsweredRequest> requests) {
    JsonNode firstTokens = list(run, RUN);
    int count = firstTokens.size();
    JsonNode prompts = list(run, "input_lens");
    requireLength(prompts, "input_lens", count);
    JsonNode gaps = run.path("itls");
    JsonNode starts = run.path("start_times");
    JsonNode errors = run.path("errors");
    long failed = 0;
    for (int i = 0; i < count; i++) {
      double firstTokenMs = MS_PER_S * number(firstTokens.get(i), RUN);
      if (firstTokenMs <= 0 || !errors.path(i).asText("").isEmpty()) {
        failed++;
        continue;
      }
      requests.add(
          new AnsweredRequest(
              starts.has(i) ? MS_PER_S * number(starts.get(i), "start_times") : Double.NaN,
              prompts.get(i).asInt(),
              0,
              firstTokenMs,
              gaps.has(i) ? numbers(gaps.get(i), "itls", MS_PER_S) : new double[0]));
    }
    return failed;
  }

  private static JsonNode list(JsonNode object, String name) {
    JsonNode list = object.path(name);
    if (!list.isArray()) {
      throw new IllegalArgumentException(
          name
              + " must be a list; vLLM writes it with --save-detailed, SGLang with"
              + " --output-details");
    }
    return list;
  }

  private static void requireLength(JsonNode list, String name, int length) {
    if (list.size() != length) {
      throw new IllegalArgumentException(
          name + " must have as many elements as " + RUN + ", " + length + ", not " + list.size());
    }
  }

  private static int count(JsonNode object, String name, int otherwise) {
    JsonNode value = object.path(name);
    if ((value.isMissingNode() || value.isNull()) && otherwise >= 0) {
      return otherwise;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.asInt() < 0) {
      throw new IllegalArgumentException(name + " must be an integer of at least 0");
    }
    return value.asInt();
  }

  private static double number(JsonNode value, String name) {
    if (!value.isNumber()) {
      throw new IllegalArgumentException(name + " must be a number");
    }
    return value.asDouble();
  }

  private static double[] numbers(JsonNode list, String name, double factor) {
    double[] all = new double[list.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = factor * number(list.get(i), name);
    }
    return all;
  }
}
