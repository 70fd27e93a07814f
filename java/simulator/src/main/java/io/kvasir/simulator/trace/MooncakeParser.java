package io.kvasir.simulator.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads Mooncake rows: {@code {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids":
 * [...]}}. Other keys are ignored and listed in one warning, since published traces have extra
 * keys.
 *
 * <p>Not thread-safe.
 */
final class MooncakeParser implements RowParser {

  private static final long MAX_TIMESTAMP_MS = 9_000_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;
  private static final String IDS_MUST_BE = "hash_ids must be an array of integers";

  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final Trace.Builder trace;
  private final Set<String> unknownKeys = new TreeSet<>();
  private int sparseRows;

  // The row being read; -1 until its key has been seen.
  private TraceLine line;
  private long arrivalNs;
  private int inputTokens;
  private int outputTokens;
  private boolean idsSeen;

  MooncakeParser(Trace.Builder trace, TraceLine first) {
    this.trace = trace;
    this.line = first;
  }

  @Override
  public void parse(TraceLine place, String text) throws InvalidTraceException {
    line = place;
    arrivalNs = -1;
    inputTokens = -1;
    outputTokens = -1;
    idsSeen = false;
    try (JsonParser json = JSON.createParser(text)) {
      parseObject(json);
    } catch (JsonEOFException e) {
      throw line.invalid("the JSON object is cut short", e);
    } catch (JsonProcessingException e) {
      throw line.invalid("not a JSON object: " + oneLine(e.getOriginalMessage()), e);
    } catch (InvalidTraceException e) {
      throw e;
    } catch (IOException e) {
      throw line.invalid("not a JSON object", e);
    }
    checkWhole();
    trace.addRow(arrivalNs, inputTokens, outputTokens);
  }

  @Override
  public void finish() {
    if (!unknownKeys.isEmpty()) {
      trace.warn("ignored keys: " + String.join(", ", unknownKeys));
    }
    if (sparseRows > 0) {
      trace.warn(
          sparseRows
              + " rows list fewer hash_ids than they have full blocks of "
              + trace.blockTokens()
              + " tokens (--trace-block-tokens); the rest of their prompts is unique");
    }
  }

  private void parseObject(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw line.invalid("each line must be a JSON object");
    }
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String key = json.currentName();
      JsonToken value = json.nextToken();
      switch (key) {
        case "timestamp" -> arrivalNs = timestampNs(json, value);
        case "input_length" -> inputTokens = length(json, value, key, 1);
        case "output_length" -> outputTokens = length(json, value, key, 0);
        case "hash_ids" -> readIds(json, value);
        default -> {
          unknownKeys.add(key);
          json.skipChildren();
        }
      }
    }
    if (json.nextToken() != null) {
      throw line.invalid("each line must be one JSON object and nothing else");
    }
  }

  private long timestampNs(JsonParser json, JsonToken value) throws IOException {
    if (value == null || !value.isNumeric()) {
      throw line.invalid("timestamp must be a number of milliseconds");
    }
    double ms = json.getDoubleValue();
    if (!(ms >= 0 && ms <= MAX_TIMESTAMP_MS)) {
      throw line.invalid(
          "timestamp must be 0 to "
              + MAX_TIMESTAMP_MS
              + " milliseconds, not "
              + Errors.shown(json.getText()));
    }
    long ns =
        value == JsonToken.VALUE_NUMBER_INT
            ? json.getLongValue() * NS_PER_MS
            : Math.round(ms * NS_PER_MS);
    if (ns < trace.lastArrivalNs()) {
      throw line.invalid(
          "timestamp must not go back: "
              + Errors.shown(json.getText())
              + " after "
              + (double) trace.lastArrivalNs() / NS_PER_MS);
    }
    return ns;
  }

  private int length(JsonParser json, JsonToken value, String key, int minimum) throws IOException {
    if (value == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      return line.inRange(key, json.getLongValue(), minimum, Trace.MAX_TOKENS);
    }
    throw line.invalid(key + " must be an integer from " + minimum + " to " + Trace.MAX_TOKENS);
  }

  private void readIds(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.START_ARRAY) {
      throw line.invalid(IDS_MUST_BE);
    }
    idsSeen = true;
    for (JsonToken id = json.nextToken(); id != JsonToken.END_ARRAY; id = json.nextToken()) {
      if (id != JsonToken.VALUE_NUMBER_INT
          || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw line.invalid(IDS_MUST_BE);
      }
      trace.addId(json.getLongValue());
    }
  }

  private void checkWhole() throws InvalidTraceException {
    present("timestamp", arrivalNs >= 0);
    present("input_length", inputTokens >= 0);
    present("output_length", outputTokens >= 0);
    present("hash_ids", idsSeen);
    int blockTokens = trace.blockTokens();
    int mostIds = (inputTokens + blockTokens - 1) / blockTokens;
    if (trace.pendingIds() > mostIds) {
      throw line.invalid(
          "hash_ids must list at most "
              + mostIds
              + " ids for input_length "
              + inputTokens
              + " at "
              + blockTokens
              + " tokens an id (--trace-block-tokens), not "
              + trace.pendingIds());
    }
    if (trace.pendingIds() < inputTokens / blockTokens) {
      sparseRows++;
    }
  }

  private void present(String key, boolean present) throws InvalidTraceException {
    if (!present) {
      throw line.invalid(key + " is missing");
    }
  }

  private static String oneLine(String message) {
    return message.replaceAll("\\s+", " ");
  }
}
