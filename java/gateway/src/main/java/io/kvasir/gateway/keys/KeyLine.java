package io.kvasir.gateway.keys;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One line of a file of keys: a JSON object with the fields of a {@link ClientKey}. Stateless. */
final class KeyLine {

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

  private static final String ID = "id";
  private static final String DIGEST = "sha256";
  private static final String NAME = "name";
  private static final String TENANT = "tenant";
  private static final String MODELS = "models";
  private static final String REQUESTS = "requests_per_minute";
  private static final String TOKENS = "tokens_per_minute";
  private static final String CONCURRENT = "max_concurrent";
  private static final String PRIORITY = "priority";
  private static final String SALT = "cache_salt";
  private static final Set<String> FIELDS =
      Set.of(ID, DIGEST, NAME, TENANT, MODELS, REQUESTS, TOKENS, CONCURRENT, PRIORITY, SALT);

  private static final Pattern A_FIELD = Pattern.compile("[a-z_]{1,32}");
  private static final Pattern AN_ID = Pattern.compile("[a-z0-9]{" + IssuedKey.ID_CHARACTERS + "}");
  private static final Pattern A_DIGEST = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern A_NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");
  private static final Pattern A_MODEL = Pattern.compile("[!-~]{1,512}");
  private static final Pattern A_SALT = Pattern.compile("[A-Za-z0-9_-]{16,128}");
  private static final String NAME_RULE =
      "must be 1 to 64 letters, digits, '.', '_', '@' and '-', the first one a letter or a digit";
  private static final int MAX_MODELS = 1_000;
  private static final int MAX_PRIORITY = 1_000;

  private KeyLine() {}

  /** {@return whether a name can be that of a key or a tenant} */
  static boolean isName(String text) {
    return A_NAME.matcher(text).matches();
  }

  /** What a name must be, in words. */
  static String nameRule() {
    return NAME_RULE;
  }

  /** {@return whether a text can name a model in a line} */
  static boolean isModel(String text) {
    return A_MODEL.matcher(text).matches();
  }

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException naming the field that is wrong, without its value where that
   *     could be a secret
   */
  static ClientKey read(String line) {
    JsonNode fields;
    try {
      fields = JSON.readTree(line);
    } catch (JsonProcessingException e) { // its message has a part of the line
      throw new IllegalArgumentException("must be a JSON object with each field once");
    }
    if (!fields.isObject()) {
      throw new IllegalArgumentException("must be a JSON object");
    }
    for (Iterator<String> names = fields.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!FIELDS.contains(name)) {
        String shown = A_FIELD.matcher(name).matches() ? " '" + name + "'" : "";
        throw new IllegalArgumentException("has an unknown field" + shown + "; known: " + known());
      }
    }
    String name = text(fields, NAME, A_NAME, NAME_RULE);
    KeyLimits limits =
        new KeyLimits(
            models(fields.get(MODELS)),
            number(fields, REQUESTS, 1, 1L << 40),
            number(fields, TOKENS, 1, 1L << 40),
            (int) number(fields, CONCURRENT, 1, 1 << 20),
            (int) number(fields, PRIORITY, -MAX_PRIORITY, MAX_PRIORITY));
    return new ClientKey(
        text(fields, ID, AN_ID, "must be 12 small letters and digits"),
        text(fields, DIGEST, A_DIGEST, "must be 64 hexadecimal digits, in small letters"),
        name,
        fields.has(TENANT) ? text(fields, TENANT, A_NAME, NAME_RULE) : name,
        limits,
        fields.has(SALT)
            ? text(fields, SALT, A_SALT, "must be 16 to 128 letters, digits, '_' and '-'")
            : null);
  }

  private static List<String> known() {
    return FIELDS.stream().sorted().toList();
  }

  private static String text(JsonNode fields, String name, Pattern pattern, String rule) {
    JsonNode value = fields.path(name);
    if (!value.isTextual() || !pattern.matcher(value.textValue()).matches()) {
      throw new IllegalArgumentException(name + (fields.has(name) ? " " + rule : " is missing"));
    }
    return value.textValue();
  }

  private static long number(JsonNode fields, String name, long least, long most) {
    JsonNode value = fields.path(name);
    if (value.isMissingNode()) {
      return 0;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < least
        || value.longValue() > most) {
      throw new IllegalArgumentException(
          name + " must be an integer from " + least + " to " + most);
    }
    return value.longValue();
  }

  private static List<String> models(@Nullable JsonNode value) {
    List<String> models = new ArrayList<>();
    if (value == null) {
      return models;
    }
    boolean good = value.isArray() && !value.isEmpty() && value.size() <= MAX_MODELS;
    for (JsonNode model : value) {
      good &= model.isTextual() && isModel(model.textValue());
      models.add(model.asText());
    }
    if (!good) {
      throw new IllegalArgumentException(
          MODELS + " must be a list of 1 to " + MAX_MODELS + " names of models");
    }
    return models;
  }

  /** {@return the line of a key, without a line feed} */
  static String write(ClientKey key) {
    ObjectNode line = JSON.createObjectNode();
    line.put(ID, key.id()).put(NAME, key.name()).put(TENANT, key.tenant());
    KeyLimits limits = key.limits();
    if (!limits.models().isEmpty()) {
      ArrayNode models = line.putArray(MODELS);
      limits.models().forEach(models::add);
    }
    putUnlessZero(line, REQUESTS, limits.requestsPerMinute());
    putUnlessZero(line, TOKENS, limits.tokensPerMinute());
    putUnlessZero(line, CONCURRENT, limits.maxConcurrent());
    putUnlessZero(line, PRIORITY, limits.priority());
    if (key.cacheSalt() != null) {
      line.put(SALT, key.cacheSalt());
    }
    return line.put(DIGEST, key.sha256()).toString();
  }

  private static void putUnlessZero(ObjectNode line, String name, long value) {
    if (value != 0) {
      line.put(name, value);
    }
  }
}
