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
import org.jspecify.annotations.Nullable;

/**
 * Reads Mooncake rows: {@code {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids":
 * [...]}}. In place of {@code hash_ids} a row may have {@code runs}, pairs of a first id and a
 * count, or {@code prompt_token_ids}, the prompt itself, or nothing. It may name its conversation.
 * Other keys are ignored and listed in one warning, since published traces have extra keys.
 *
 * <p>Not thread-safe.
 */
final class MooncakeParser implements RowParser {

  private static final long MAX_TIMESTAMP_MS = 9_000_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;
  private static final String IDS_MUST_BE = "hash_ids must be an array of integers";
  private static final String RUNS_MUST_BE = "runs must be an array of pairs [first id, count]";
  private static final long MAX_TOKEN = 0xffff_ffffL;
  private static final String TOKENS_MUST_BE =
      "prompt_token_ids must be an array of integers from 0 to " + MAX_TOKEN;
  private static final int MAX_SESSION_CHARACTERS = 256;

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
  private @Nullable String content; // the key that gives the prompt's content
  private @Nullable String session;

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
    content = null;
    session = null;
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
    trace.addRow(arrivalNs, inputTokens, outputTokens, session);
  }

  @Override
  public void finish() {
    if (!unknownKeys.isEmpty()) {
      trace.warn("ignored keys: " + String.join(", ", unknownKeys));
    }
    if (sparseRows > 0) {
      trace.warn(
          sparseRows
              + " rows list fewer ids than they have full blocks of "
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
        case "runs" -> readRuns(json, value);
        case "prompt_token_ids" -> readTokens(json, value);
        case "session", "session_id", "conversation_id" -> readSession(json, value, key);
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
    only("hash_ids");
    for (JsonToken id = json.nextToken(); id != JsonToken.END_ARRAY; id = json.nextToken()) {
      if (id != JsonToken.VALUE_NUMBER_INT
          || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw line.invalid(IDS_MUST_BE);
      }
      trace.addId(json.getLongValue());
    }
  }

  private void readRuns(JsonParser json, JsonToken value) throws IOException {
    only("runs");
    if (value != JsonToken.START_ARRAY) {
      throw line.invalid(RUNS_MUST_BE);
    }
    for (JsonToken run = json.nextToken(); run != JsonToken.END_ARRAY; run = json.nextToken()) {
      if (run != JsonToken.START_ARRAY) {
        throw line.invalid(RUNS_MUST_BE);
      }
      long first = integerOfRun(json);
      long count = integerOfRun(json);
      if (json.nextToken() != JsonToken.END_ARRAY) {
        throw line.invalid(RUNS_MUST_BE);
      }
      if (count < 1 || count > Trace.MAX_TOKENS) {
        throw line.invalid("a count of runs must be 1 to " + Trace.MAX_TOKENS + ", not " + count);
      }
      for (long id = 0; id < count; id++) {
        trace.addId(first + id);
      }
    }
  }

  private long integerOfRun(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.VALUE_NUMBER_INT
        || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw line.invalid(RUNS_MUST_BE);
    }
    return json.getLongValue();
  }

  private void readTokens(JsonParser json, JsonToken value) throws IOException {
    only("prompt_token_ids");
    if (value != JsonToken.START_ARRAY) {
      throw line.invalid(TOKENS_MUST_BE);
    }
    for (JsonToken id = json.nextToken(); id != JsonToken.END_ARRAY; id = json.nextToken()) {
      boolean integer =
          id == JsonToken.VALUE_NUMBER_INT
              && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
      long token = integer ? json.getLongValue() : -1;
      if (token < 0 || token > MAX_TOKEN) {
        throw line.invalid(TOKENS_MUST_BE);
      }
      trace.addToken((int) token);
    }
  }

  private void readSession(JsonParser json, JsonToken value, String key) throws IOException {
    if (session != null) {
      throw line.invalid("session, session_id and conversation_id exclude each other");
    }
    if (value == JsonToken.VALUE_NULL) {
      return;
    }
    if (value == JsonToken.START_OBJECT || value == JsonToken.START_ARRAY) {
      unknownKeys.add(key);
      json.skipChildren();
      return;
    }
    boolean plain = value == JsonToken.VALUE_STRING || value == JsonToken.VALUE_NUMBER_INT;
    String text = plain ? json.getText() : "";
    if (text.isEmpty() || text.length() > MAX_SESSION_CHARACTERS) {
      throw line.invalid(
          key + " must be an integer or a text of 1 to " + MAX_SESSION_CHARACTERS + " characters");
    }
    session = text;
  }

  private void only(String key) throws InvalidTraceException {
    if (content != null) {
      throw line.invalid(content + " and " + key + " exclude each other");
    }
    content = key;
  }

  private void checkWhole() throws InvalidTraceException {
    present("timestamp", arrivalNs >= 0);
    boolean listsTokens = "prompt_token_ids".equals(content);
    if (listsTokens) {
      checkTokens(trace.pendingTokens());
    }
    present("input_length", inputTokens >= 0);
    present("output_length", outputTokens >= 0);
    if (listsTokens) {
      return;
    }
    int blockTokens = trace.blockTokens();
    int mostIds = (inputTokens + blockTokens - 1) / blockTokens;
    if (trace.pendingIds() > mostIds) {
      throw line.invalid(
          (content == null ? "hash_ids" : content)
              + " must list at most "
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

  private void checkTokens(int listed) throws InvalidTraceException {
    if (listed < 1 || listed > Trace.MAX_TOKENS) {
      throw line.invalid(
          "prompt_token_ids must list 1 to " + Trace.MAX_TOKENS + " tokens, not " + listed);
    }
    if (inputTokens >= 0 && inputTokens != listed) {
      throw line.invalid(
          "input_length must be the number of prompt_token_ids, "
              + listed
              + ", not "
              + inputTokens);
    }
    inputTokens = listed;
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
