package io.kvasir.tokens.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Changes of a JSON tree that leave it JSON: other types, lost and repeated parts, odd values. */
final class JsonMutations {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** What a {@code tokenizer.json} has as names of types and of behaviours. */
  private static final String[] WORDS = {
    "BPE",
    "WordPiece",
    "WordLevel",
    "Unigram",
    "ByteLevel",
    "Metaspace",
    "Split",
    "Sequence",
    "BertNormalizer",
    "BertPreTokenizer",
    "NFC",
    "NFKD",
    "Lowercase",
    "Prepend",
    "Replace",
    "Strip",
    "StripAccents",
    "Precompiled",
    "TemplateProcessing",
    "BertProcessing",
    "RobertaProcessing",
    "Whitespace",
    "Digits",
    "Punctuation",
    "ByteFallback",
    "Isolated",
    "Removed",
    "MergedWithPrevious",
    "Contiguous",
    "always",
    "first",
    "never",
    "String",
    "Regex",
    "<unk>",
    "a",
    "▁",
    ""
  };

  private static final long[] NUMBERS = {
    0,
    1,
    -1,
    2,
    255,
    256,
    65_535,
    1 << 20,
    Integer.MAX_VALUE,
    1L << 31,
    (1L << 32) - 1,
    1L << 32,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };

  private final Random random;
  private final ObjectNode root;

  private JsonMutations(Random random, ObjectNode root) {
    this.random = random;
    this.root = root;
  }

  /** Changes a tree in one place, or in a few: most files that change in several are refused. */
  static void mutate(Random random, ObjectNode root) {
    JsonMutations mutations = new JsonMutations(random, root);
    for (int i = random.nextInt(3) == 0 ? 3 : 1; i > 0; i--) {
      mutations.once();
    }
  }

  private void once() {
    JsonNode container = container();
    if (container instanceof ObjectNode object) {
      changeObject(object);
    } else if (container instanceof ArrayNode array) {
      changeArray(array);
    }
  }

  /** A random object or array: deeper ones are as likely as large ones. */
  private JsonNode container() {
    JsonNode at = root;
    while (true) {
      List<JsonNode> inner = new ArrayList<>();
      at.forEach(child -> addContainer(child, inner));
      if (inner.isEmpty() || random.nextInt(4) == 0) {
        return at;
      }
      at = inner.get(random.nextInt(inner.size()));
    }
  }

  private static void addContainer(JsonNode node, List<JsonNode> all) {
    if (node.isContainerNode() && !node.isEmpty()) {
      all.add(node);
    }
  }

  private void changeObject(ObjectNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    if (names.isEmpty()) {
      object.set(word(), odd());
      return;
    }
    String name = names.get(random.nextInt(names.size()));
    String other = names.get(random.nextInt(names.size()));
    switch (random.nextInt(6)) {
      case 0 -> object.remove(name);
      case 1 -> object.set(name, object.get(other).deepCopy());
      case 2 -> object.set(name, container().deepCopy());
      case 3 -> object.set(word(), object.remove(name));
      default -> object.set(name, changed(object.get(name)));
    }
  }

  private void changeArray(ArrayNode array) {
    if (array.isEmpty()) {
      array.add(odd());
      return;
    }
    int index = random.nextInt(array.size());
    int other = random.nextInt(array.size());
    switch (random.nextInt(7)) {
      case 0 -> array.remove(index);
      case 1 -> array.insert(other, array.get(index).deepCopy()); // a merge is there twice
      case 2 -> array.insert(other, array.remove(index)); // in another order
      case 3 -> array.removeAll();
      case 4 -> array.set(index, container().deepCopy());
      default -> array.set(index, changed(array.get(index)));
    }
  }

  /** A value of the same kind, or of any. */
  private JsonNode changed(JsonNode value) {
    if (random.nextInt(3) == 0) {
      return odd();
    }
    if (value.isBoolean()) {
      return JSON.booleanNode(!value.booleanValue());
    }
    if (value.isNumber()) {
      return random.nextBoolean() ? number() : JSON.numberNode(value.longValue() + 1);
    }
    if (value.isTextual()) {
      String text = value.textValue();
      int at =
          text.isEmpty()
              ? 0
              : text.offsetByCodePoints(0, text.codePointCount(0, text.length()) / 2);
      return JSON.textNode(
          switch (random.nextInt(4)) {
            case 0 -> text.substring(at);
            case 1 -> text + text;
            case 2 -> word();
            default -> text.substring(0, at) + word() + text.substring(at);
          });
    }
    return odd();
  }

  private String word() {
    return switch (random.nextInt(12)) {
      case 0 -> "\u0000";
      case 1 -> "a b c";
      case 2 -> "é\ud83d\ude00";
      case 3 -> "a".repeat(1 << random.nextInt(16));
      default -> WORDS[random.nextInt(WORDS.length)];
    };
  }

  private JsonNode number() {
    return switch (random.nextInt(6)) {
      case 0 -> JSON.numberNode(random.nextBoolean() ? 1e308 : -1e-308);
      case 1 -> JSON.numberNode(random.nextDouble());
      case 2 -> JSON.numberNode(BigInteger.TWO.pow(64 + random.nextInt(200)));
      default -> JSON.numberNode(NUMBERS[random.nextInt(NUMBERS.length)]);
    };
  }

  private JsonNode odd() {
    return switch (random.nextInt(8)) {
      case 0 -> JSON.nullNode();
      case 1 -> JSON.booleanNode(random.nextBoolean());
      case 2 -> JSON.objectNode();
      case 3 -> JSON.arrayNode();
      case 4 -> nested();
      case 5 -> number();
      default -> JSON.textNode(word());
    };
  }

  private JsonNode nested() {
    JsonNode nested = JSON.textNode(word());
    for (int i = 1 << random.nextInt(9); i > 0; i--) {
      nested =
          random.nextBoolean() ? JSON.arrayNode().add(nested) : JSON.objectNode().set("a", nested);
    }
    return nested;
  }
}
