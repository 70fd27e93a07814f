package io.kvasir.cli.option;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.EngineKind;
import io.kvasir.simulator.compare.Engines;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepProfile;
import io.kvasir.timing.StepTiming;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A timing model by name, or as a file: a JSON object with the coefficients of {@link StepTiming}
 * and {@link StepOverheads}.
 */
public final class StepTimingFile {

  /** What the value of an option looks like. */
  static final String LABEL = "NAME|FILE";

  /** The option of what routers expect. */
  public static final String OPTION = "--step-timing";

  /** The names of models, for help. */
  public static final String NAMES =
      Arrays.stream(StepProfile.values()).map(StepProfile::id).collect(Collectors.joining(", "));

  private static final long MAX_BYTES = 1 << 16;
  private static final String KV_TOKENS = "decode_kv_tokens";
  private static final String GRAPH_MULTIPLE = "decode_graph_multiple";
  private static final List<String> KEYS =
      List.of(
          "prefill_quadratic",
          "prefill_linear",
          "prefill_constant_ms",
          "decode_quadratic",
          "decode_linear",
          "decode_constant_ms",
          "decode_floor_ms",
          KV_TOKENS,
          "decode_request_ms",
          GRAPH_MULTIPLE,
          "all_reduce_ms",
          "all_reduce_token_ms",
          "mixed_overlap");

  /** Keys of integers. */
  private static final List<String> WHOLE = List.of(GRAPH_MULTIPLE);

  private StepTimingFile() {}

  /**
   * The model of a name, or of a file.
   *
   * @throws UsageException if there is neither, or the file is not such an object
   */
  static StepTiming named(String option, String text) {
    for (StepProfile profile : StepProfile.values()) {
      if (profile.id().equalsIgnoreCase(text.strip())) {
        return profile.timing();
      }
    }
    Path file = Values.path(option, text);
    if (!Files.exists(file) && !text.contains("/") && !text.contains(".")) {
      throw new UsageException(
          option, "must be " + NAMES + " or a file, not '" + Errors.shown(text) + "'");
    }
    return read(option, file);
  }

  /**
   * Engines that take the times of a name, or of a file.
   *
   * @param option the option that names them
   * @param text the name or the file
   * @return the engines
   * @throws UsageException if there is neither, or the file has no such times
   */
  public static Engines engines(String option, String text) {
    return new Engines(text.strip(), named(option, text), EngineKind.AS_EXPECTED);
  }

  /**
   * Reads a file. A key that is missing keeps its default.
   *
   * @throws UsageException if it cannot be read, or is not such an object
   */
  private static StepTiming read(String option, Path file) {
    JsonNode json = parse(option, file);
    for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!KEYS.contains(name)) {
        throw wrong(
            option,
            file,
            "unknown key '"
                + Errors.shown(name)
                + "'"
                + Suggestions.question(name, KEYS)
                + "; allowed: "
                + String.join(", ", KEYS));
      }
      if (!json.get(name).isNumber()) {
        throw wrong(option, file, name + " must be a number");
      }
      if (WHOLE.contains(name) && !json.get(name).canConvertToInt()) {
        throw wrong(option, file, name + " must be an integer of at most " + Integer.MAX_VALUE);
      }
    }
    StepTiming other = StepTiming.DEFAULT;
    StepOverheads none = StepOverheads.NONE;
    try {
      return new StepTiming(
          json.path(KEYS.get(0)).asDouble(other.prefillQuadratic()),
          json.path(KEYS.get(1)).asDouble(other.prefillLinear()),
          json.path(KEYS.get(2)).asDouble(other.prefillConstantMs()),
          json.path(KEYS.get(3)).asDouble(other.decodeQuadratic()),
          json.path(KEYS.get(4)).asDouble(other.decodeLinear()),
          json.path(KEYS.get(5)).asDouble(other.decodeConstantMs()),
          json.path(KEYS.get(6)).asDouble(other.decodeFloorMs()),
          json.path(KV_TOKENS).asLong(other.decodeKvTokens()),
          new StepOverheads(
              json.path(KEYS.get(8)).asDouble(none.decodeRequestMs()),
              json.path(GRAPH_MULTIPLE).asInt(none.decodeGraphMultiple()),
              json.path(KEYS.get(10)).asDouble(none.allReduceMs()),
              json.path(KEYS.get(11)).asDouble(none.allReduceTokenMs()),
              json.path(KEYS.get(12)).asDouble(none.mixedOverlap())));
    } catch (IllegalArgumentException e) {
      throw wrong(option, file, Errors.reason(e));
    }
  }

  /**
   * {@return the text of a file}
   *
   * @param timing its coefficients
   */
  public static String text(StepTiming timing) {
    ObjectNode json = new JsonMapper().createObjectNode();
    json.put(KEYS.get(0), timing.prefillQuadratic());
    json.put(KEYS.get(1), timing.prefillLinear());
    json.put(KEYS.get(2), timing.prefillConstantMs());
    json.put(KEYS.get(3), timing.decodeQuadratic());
    json.put(KEYS.get(4), timing.decodeLinear());
    json.put(KEYS.get(5), timing.decodeConstantMs());
    json.put(KEYS.get(6), timing.decodeFloorMs());
    json.put(KV_TOKENS, timing.decodeKvTokens());
    StepOverheads overheads = timing.overheads();
    if (!overheads.equals(StepOverheads.NONE)) {
      json.put(KEYS.get(8), overheads.decodeRequestMs());
      json.put(GRAPH_MULTIPLE, overheads.decodeGraphMultiple());
      json.put(KEYS.get(10), overheads.allReduceMs());
      json.put(KEYS.get(11), overheads.allReduceTokenMs());
      json.put(KEYS.get(12), overheads.mixedOverlap());
    }
    return json.toPrettyString() + "\n";
  }

  private static JsonNode parse(String option, Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw wrong(option, file, "must have at most " + MAX_BYTES + " bytes");
      }
      JsonNode json = new JsonMapper().readTree(Files.readAllBytes(file));
      if (json.isObject()) {
        return json;
      }
    } catch (JsonProcessingException e) {
      throw wrong(option, file, "not JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw wrong(option, file, "cannot be read: " + Errors.reason(e));
    }
    throw wrong(option, file, "must be a JSON object");
  }

  private static UsageException wrong(String option, Path file, String problem) {
    return new UsageException(option, file + ": " + problem);
  }
}
