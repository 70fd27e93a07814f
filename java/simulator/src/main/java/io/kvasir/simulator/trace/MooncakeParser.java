package io.kvasir.simulator.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads Mooncake rows: {@code {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids":
 * [...]}}. In place of {@code hash_ids} a row may have {@code runs}, pairs of a first id and a
 * count, or {@code prompt_token_ids}, the prompt itself, or nothing. It may name its conversation,
 * in Alibaba's traces by {@link ChatIds}. Other keys are ignored and listed in one warning, since
 * published traces have extra keys.
 *
 * <p>Not thread-safe.
 */
final class MooncakeParser implements RowParser {

  private static final String ROW =
      "{\"timestamp\": 0, \"input_length\": 900, \"output_length\": 8, \"hash_ids\": [50, 51]}";
  private static final String IDS_MUST_BE = "hash_ids must be an array of integers";
  private static final String RUNS_MUST_BE = "runs must be an array of pairs [first id, count]";
  private static final long MAX_TOKEN = 0xffff_ffffL;
  private static final String TOKENS_MUST_BE =
      "prompt_token_ids must be an array of integers from 0 to " + MAX_TOKEN;
  private static final int MAX_SESSION_CHARACTERS = 256;

  /** Reads JSON with NaN and infinite numbers, which Python writes. */
  static final JsonFactory JSON =
      JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private final TraceBuilder trace;
  private final Timestamps times;
  private final @Nullable ChatIds chats;
  private final Set<String> unknownKeys = new TreeSet<>();
  private int sparseRows;

  // The row being read; -1 until its key has been seen.
  private TraceLine line;
  private long arrivalNs;
  private int inputTokens;
  private int outputTokens;
  private @Nullable String content; // the key that gives the prompt's content
  private @Nullable String session;
  private long chat;
  private long parent;
  private final Set<String> keys = new HashSet<>();

  /**
   * Begins a file.
   *
   * @param trace receives the rows
   * @param first the place of the first row
   * @param times reads its timestamps
   * @param chats the conversations, or null if rows do not name chats
   */
  MooncakeParser(TraceBuilder trace, TraceLine first, Timestamps times, @Nullable ChatIds chats) {
    this.trace = trace;
    this.line = first;
    this.times = times;
    this.chats = chats;
  }

  @Override
  public void parse(TraceLine place, String text) throws InvalidTraceException {
    line = place;
    arrivalNs = -1;
    inputTokens = -1;
    outputTokens = -1;
    content = null;
    session = null;
    chat = -1;
    parent = -1;
    keys.clear();
    if (trace.rows() == 0 && text.strip().equals("{")) {
      throw line.invalid("each line must be a whole JSON object; this object has several lines");
    }
    try (JsonParser json = JSON.createParser(text)) {
      parseValid(json);
    } catch (InvalidTraceException e) {
      throw e;
    } catch (IOException e) {
      throw line.invalid("each line must be a JSON object like " + ROW, e);
    }
    checkWhole();
    if (chats != null) {
      chats.add(chat, parent);
    }
    trace.addRow(arrivalNs, inputTokens, outputTokens, session);
  }

  private void parseValid(JsonParser json) throws IOException {
    try {
      parseObject(json);
    } catch (JsonEOFException e) {
      throw line.invalid("the JSON object is cut short", e);
    } catch (StreamConstraintsException e) {
      throw line.invalid(
          "has a name, number or text that is too long, or is nested too deeply" + in(json), e);
    } catch (JsonProcessingException e) {
      throw line.invalid(
          "is not valid JSON" + in(json) + "; each line must be a JSON object like " + ROW, e);
    }
  }

  /** Names the field that is being read. */
  private static String in(JsonParser json) {
    String field = null;
    for (JsonStreamContext at = json.getParsingContext(); at != null; at = at.getParent()) {
      field = at.getCurrentName() == null ? field : at.getCurrentName();
    }
    return field == null ? "" : " in " + Errors.shown(field);
  }

  @Override
  public void finish() {
    if (chats != null) {
      chats.nameConversations(trace);
    }
    times.finish();
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
      if (!keys.add(key)) {
        throw line.invalid("each field may occur only once, not twice as " + Errors.shown(key));
      }
      JsonToken value = json.nextToken();
      switch (key) {
        case "timestamp" -> arrivalNs = timestampNs(json, value);
        case "input_length" -> inputTokens = length(json, value, key, 1);
        case "output_length" -> outputTokens = length(json, value, key, 0);
        case "hash_ids" -> readIds(json, value);
        case "runs" -> readRuns(json, value);
        case "prompt_token_ids" -> readTokens(json, value);
        case "session", "session_id", "conversation_id" -> readSession(json, value, key);
        case ChatIds.CHAT -> chat = chatId(json, value, key);
        case ChatIds.PARENT -> parent = chatId(json, value, key);
        default -> ignore(json, key);
      }
    }
    if (json.nextToken() != null) {
      throw line.invalid("each line must be one JSON object and nothing else");
    }
  }

  private void ignore(JsonParser json, String key) throws IOException {
    unknownKeys.add(key);
    json.skipChildren();
  }

  private long timestampNs(JsonParser json, @Nullable JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      return times.timeNs(line, "timestamp", json.getText());
    }
    if (value == null || !value.isNumeric()) {
      throw times.wrong(line, "timestamp");
    }
    return times.numberNs(line, "timestamp", json.getText(), json.getDoubleValue());
  }

  private int length(JsonParser json, JsonToken value, String key, int minimum) throws IOException {
    Long length = RowNumbers.integer(json, value);
    if (length == null) {
      throw line.invalid(key + " must be an integer from " + minimum + " to " + Trace.MAX_TOKENS);
    }
    return line.inRange(key, length, minimum, Trace.MAX_TOKENS);
  }

  /** An id of a chat; -1 for none, which tables also write as null or NaN. */
  private long chatId(JsonParser json, JsonToken value, String key) throws IOException {
    if (chats == null) {
      ignore(json, key);
      return -1;
    }
    Long id = isMissing(json, value) ? Long.valueOf(-1) : RowNumbers.integer(json, value);
    if (id == null) {
      throw line.invalid(key + " must be an integer, -1 for none");
    }
    return id;
  }

  private static boolean isMissing(JsonParser json, JsonToken value) throws IOException {
    return value == JsonToken.VALUE_NULL
        || (value == JsonToken.VALUE_NUMBER_FLOAT && Double.isNaN(json.getDoubleValue()));
  }

  private void readIds(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.START_ARRAY) {
      throw line.invalid(IDS_MUST_BE);
    }
    only("hash_ids");
    for (JsonToken each = json.nextToken(); each != JsonToken.END_ARRAY; each = json.nextToken()) {
      Long id = RowNumbers.id(json, each);
      if (id == null) {
        throw line.invalid(IDS_MUST_BE);
      }
      trace.addId(id);
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
    Long integer = RowNumbers.id(json, json.nextToken());
    if (integer == null) {
      throw line.invalid(RUNS_MUST_BE);
    }
    return integer;
  }

  private void readTokens(JsonParser json, JsonToken value) throws IOException {
    only("prompt_token_ids");
    if (value != JsonToken.START_ARRAY) {
      throw line.invalid(TOKENS_MUST_BE);
    }
    for (JsonToken id = json.nextToken(); id != JsonToken.END_ARRAY; id = json.nextToken()) {
      Long token = RowNumbers.integer(json, id);
      if (token == null || token < 0 || token > MAX_TOKEN) {
        throw line.invalid(TOKENS_MUST_BE);
      }
      trace.addToken(token.intValue());
    }
  }

  private void readSession(JsonParser json, JsonToken value, String key) throws IOException {
    if (session != null) {
      throw line.invalid("session, session_id and conversation_id exclude each other");
    }
    if (isMissing(json, value)) {
      return;
    }
    if (value == JsonToken.START_OBJECT || value == JsonToken.START_ARRAY) {
      ignore(json, key);
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
      throw line.invalid(key + " is missing" + ForeignRows.hint(keys));
    }
  }
}
