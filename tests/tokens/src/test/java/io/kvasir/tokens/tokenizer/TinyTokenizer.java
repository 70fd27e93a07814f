package io.kvasir.tokens.tokenizer;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Learns a small vocabulary from a text, and writes it as a {@code tokenizer.json}. */
final class TinyTokenizer {

  /** The words of Qwen's pattern, in Java's notation; whitespace is Unicode's. */
  static final Pattern WORDS =
      Pattern.compile(
          "(?iu:'s|'t|'re|'ve|'m|'ll|'d)"
              + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
              + "|\\p{N}"
              + "| ?[^\\p{IsWhite_Space}\\p{L}\\p{N}]+[\\r\\n]*"
              + "|\\p{IsWhite_Space}*[\\r\\n]+"
              + "|\\p{IsWhite_Space}+(?!\\P{IsWhite_Space})"
              + "|\\p{IsWhite_Space}+");

  /** The same pattern in the file. */
  private static final String WORDS_IN_FILE =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  static final String CORPUS =
      "The quick brown fox doesn't jump over the lazy dog; it's the dog that they'll see there. "
          + "public static void main(String[] args) { return map.get(key) == null ? 0 : 1; } "
          + "def tokenize(self, text): return [token for token in text.split() if token] "
          + "import java.util.List; // the other the then their this that these those \n\n    "
          + "你好，世界！这是一个测试。你好吗？世界和平。 Größe über Straße, naïve café résumé. "
          + "user assistant system user assistant im_start im_end <|im_start|> <|im_end|> "
          + "1234567890 3.14159 2026-11-27 100% \t\t    \n  the end of the text of the test ";

  private static final int LEARNED = 200;

  static final ObjectMapper MAPPER = new ObjectMapper();

  private final ObjectNode json;
  final Map<String, Integer> vocabulary = new LinkedHashMap<>();
  final List<String[]> merges = new ArrayList<>();
  final Map<String, Integer> added = new TreeMap<>();

  private TinyTokenizer(TinyTokenizer other) {
    json = other.json.deepCopy();
    vocabulary.putAll(other.vocabulary);
    merges.addAll(other.merges);
    added.putAll(other.added);
  }

  private TinyTokenizer() {
    json = MAPPER.createObjectNode();
    json.put("version", "1.0");
    json.putNull("truncation");
    json.putNull("padding");
    json.putArray("added_tokens");
    json.putNull("normalizer");
    json.putNull("pre_tokenizer");
    json.putNull("post_processor");
    json.putNull("decoder");
  }

  /** Byte-level BPE with a pattern and NFC, as Qwen has it. */
  static TinyTokenizer byteLevel(boolean nfc) {
    TinyTokenizer tiny = new TinyTokenizer();
    if (nfc) {
      tiny.json.putObject("normalizer").put("type", "NFC");
    }
    ArrayNode steps =
        tiny.json.putObject("pre_tokenizer").put("type", "Sequence").putArray("pretokenizers");
    ObjectNode split = steps.addObject().put("type", "Split").put("behavior", "Isolated");
    split.put("invert", false).putObject("pattern").put("Regex", WORDS_IN_FILE);
    ObjectNode bytes = steps.addObject().put("type", "ByteLevel").put("add_prefix_space", false);
    bytes.put("trim_offsets", false).put("use_regex", false);
    for (int b = 0; b < 256; b++) {
      tiny.vocabulary.put(letter(b), tiny.vocabulary.size());
    }
    List<List<String>> words = new ArrayList<>();
    Matcher matcher = WORDS.matcher(CORPUS);
    while (matcher.find()) {
      words.add(letters(matcher.group()));
    }
    tiny.learn(words, LEARNED);
    tiny.model(false);
    return tiny;
  }

  /**
   * BPE of characters with Metaspace and bytes for unknown ones, as converted from SentencePiece.
   */
  static TinyTokenizer metaspace(String scheme) {
    TinyTokenizer tiny = new TinyTokenizer();
    ObjectNode step = tiny.json.putObject("pre_tokenizer").put("type", "Metaspace");
    step.put("replacement", "▁").put("prepend_scheme", scheme).put("split", false);
    tiny.vocabulary.put("<unk>", 0);
    for (int b = 0; b < 256; b++) {
      tiny.vocabulary.put(String.format("<0x%02X>", b), tiny.vocabulary.size());
    }
    List<List<String>> words = new ArrayList<>();
    for (String word : ("▁" + CORPUS.replace(' ', '▁')).split("(?=▁)", -1)) {
      List<String> symbols = new ArrayList<>();
      word.codePoints().mapToObj(Character::toString).forEach(symbols::add);
      symbols.forEach(c -> tiny.vocabulary.putIfAbsent(c, tiny.vocabulary.size()));
      words.add(symbols);
    }
    tiny.learn(words, LEARNED);
    tiny.model(true);
    return tiny;
  }

  /** WordPiece with BERT's steps, or Unigram. */
  static TinyTokenizer of(String model) {
    TinyTokenizer tiny = new TinyTokenizer();
    ObjectNode node = tiny.json.putObject("model").put("type", model);
    if (model.equals("WordPiece")) {
      ObjectNode normalizer = tiny.json.putObject("normalizer").put("type", "BertNormalizer");
      normalizer.put("clean_text", true).put("handle_chinese_chars", true).put("lowercase", true);
      normalizer.putNull("strip_accents");
      tiny.json.putObject("pre_tokenizer").put("type", "BertPreTokenizer");
      node.put("unk_token", "[UNK]").put("continuing_subword_prefix", "##");
      node.put("max_input_chars_per_word", 100);
      tiny.vocabulary.put("[UNK]", 0);
      CORPUS.codePoints().mapToObj(Character::toString).forEach(tiny::wordPiece);
      for (String word : CORPUS.toLowerCase(java.util.Locale.ROOT).split("\\W+", -1)) {
        if (!word.isEmpty()) {
          tiny.wordPiece(word);
        }
      }
      node.set("vocab", MAPPER.valueToTree(tiny.vocabulary));
      return tiny;
    }
    ObjectNode step = tiny.json.putObject("pre_tokenizer").put("type", "Metaspace");
    step.put("replacement", "▁").put("prepend_scheme", "always").put("split", true);
    ArrayNode pieces = node.put("unk_id", 0).put("byte_fallback", false).putArray("vocab");
    pieces.addArray().add("<unk>").add(0.0);
    Map<String, Double> scores = new TreeMap<>();
    CORPUS.codePoints().mapToObj(Character::toString).forEach(c -> scores.put(c, -9.0));
    for (String word : CORPUS.split("\\s+", -1)) {
      scores.put("▁" + word, -10.0 - word.length() / 10.0);
    }
    scores.put("▁", -5.0);
    scores.forEach((piece, score) -> pieces.addArray().add(piece).add(score));
    tiny.json.putArray("added_tokens");
    return tiny;
  }

  private void wordPiece(String word) {
    vocabulary.putIfAbsent(word, vocabulary.size());
    vocabulary.putIfAbsent("##" + word, vocabulary.size());
  }

  /** Adds a token; flags are names of its fields that are true. */
  TinyTokenizer add(String content, String... flags) {
    List<String> set = List.of(flags);
    int id = size() + added.size();
    added.put(content, id);
    ObjectNode token = ((ArrayNode) json.get("added_tokens")).addObject();
    token.put("id", id).put("content", content);
    for (String flag : List.of("single_word", "lstrip", "rstrip", "normalized", "special")) {
      token.put(flag, set.contains(flag));
    }
    return this;
  }

  private int size() {
    return json.get("model").get("vocab").size();
  }

  /** Adds one token in front of each text and one behind it. */
  TinyTokenizer frame(String before, String after) {
    ObjectNode processor = json.putObject("post_processor").put("type", "TemplateProcessing");
    ArrayNode single = processor.putArray("single");
    ObjectNode tokens = processor.putObject("special_tokens");
    processor.putArray("pair");
    special(single, tokens, before);
    single.addObject().putObject("Sequence").put("id", "A").put("type_id", 0);
    special(single, tokens, after);
    return this;
  }

  private void special(ArrayNode single, ObjectNode tokens, String content) {
    single.addObject().putObject("SpecialToken").put("id", content).put("type_id", 0);
    ObjectNode token = tokens.putObject(content).put("id", content);
    token.putArray("ids").add(added.get(content));
    token.putArray("tokens").add(content);
  }

  /** The same tokenizer, to add further tokens to it. */
  TinyTokenizer copy() {
    return new TinyTokenizer(this);
  }

  /** The file's tree, to change it. */
  ObjectNode json() {
    return json;
  }

  /** Writes the file. */
  Path write(Path folder) throws IOException {
    Path file = folder.resolve("tokenizer.json");
    Files.writeString(file, json.toString());
    return file;
  }

  private void model(boolean byteFallback) {
    ObjectNode model =
        json.putObject("model").put("type", "BPE").put("byte_fallback", byteFallback);
    model.putNull("dropout").putNull("continuing_subword_prefix").putNull("end_of_word_suffix");
    model.put("fuse_unk", byteFallback);
    if (byteFallback) {
      model.put("unk_token", "<unk>");
    } else {
      model.putNull("unk_token");
    }
    model.set("vocab", MAPPER.valueToTree(vocabulary));
    model.set("merges", MAPPER.valueToTree(merges));
  }

  /** Merges the most frequent pair, again and again. */
  private void learn(List<List<String>> words, int count) {
    for (int i = 0; i < count; i++) {
      Map<List<String>, Integer> pairs = new HashMap<>();
      for (List<String> word : words) {
        for (int at = 0; at + 1 < word.size(); at++) {
          pairs.merge(List.copyOf(word.subList(at, at + 2)), 1, Integer::sum);
        }
      }
      Comparator<Map.Entry<List<String>, Integer>> order = Map.Entry.comparingByValue();
      List<String> best =
          pairs.entrySet().stream()
              .max(order.thenComparing(entry -> String.join(" ", entry.getKey())))
              .orElseThrow()
              .getKey();
      String merged = String.join("", best);
      if (vocabulary.putIfAbsent(merged, vocabulary.size()) == null) {
        merges.add(best.toArray(new String[0]));
      }
      words.forEach(word -> merge(word, best.get(0), best.get(1)));
    }
  }

  static void merge(List<String> word, String left, String right) {
    for (int at = 0; at + 1 < word.size(); at++) {
      if (word.get(at).equals(left) && word.get(at + 1).equals(right)) {
        word.set(at, left + right);
        word.remove(at + 1);
      }
    }
  }

  /** The letters that stand for the bytes of a text. */
  static List<String> letters(String text) {
    List<String> letters = new ArrayList<>();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      letters.add(letter(b & 0xff));
    }
    return letters;
  }

  /** GPT-2's letter for a byte. */
  static String letter(int b) {
    if (isPrinted(b)) {
      return Character.toString(b);
    }
    int before = 0;
    for (int other = 0; other < b; other++) {
      before += isPrinted(other) ? 0 : 1;
    }
    return Character.toString(256 + before);
  }

  private static boolean isPrinted(int b) {
    return (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xff && b != 0xad);
  }

  /** The ids of a text by definition, with added tokens found one by one; byte-level only. */
  List<Integer> slowly(String text, Collection<String> tokens) {
    List<Integer> ids = new ArrayList<>();
    int gap = 0;
    int at = 0;
    while (at < text.length()) {
      String longest = "";
      for (String token : tokens) {
        if (text.startsWith(token, at) && token.length() > longest.length()) {
          longest = token;
        }
      }
      if (longest.isEmpty()) {
        at++;
        continue;
      }
      words(text.substring(gap, at), ids);
      ids.add(added.get(longest));
      at += longest.length();
      gap = at;
    }
    words(text.substring(gap), ids);
    return ids;
  }

  private final Map<String, List<Integer>> known = new HashMap<>();

  private void words(String text, List<Integer> ids) {
    Matcher matcher = WORDS.matcher(text);
    int end = 0;
    while (matcher.find()) {
      if (matcher.start() != end) {
        throw new AssertionError("the pattern covers every text");
      }
      end = matcher.end();
      ids.addAll(known.computeIfAbsent(matcher.group(), this::word));
    }
  }

  private List<Integer> word(String text) {
    List<String> word = letters(text);
    for (String[] pair : merges) {
      merge(word, pair[0], pair[1]);
    }
    return word.stream().map(vocabulary::get).toList();
  }
}
