package io.kvasir.tokens.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.tokens.tokenizer.SentencePieceModel.Algorithm;
import io.kvasir.tokens.tokenizer.SentencePieceModel.Kind;
import io.kvasir.tokens.tokenizer.SentencePieceModel.Piece;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the {@code tokenizer.json} of a SentencePiece model that is alone, as Hugging Face's
 * transformers do for engines: only for models of class {@code LlamaTokenizer}, whose rules are
 * known. Stateless.
 */
final class SentencePieceJson {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SPACE = "\u2581";

  private SentencePieceJson() {}

  /**
   * Converts a model. O(p·l) for p pieces of l characters, and O(m log m) for m merges.
   *
   * @param file for messages
   * @param bytes the model
   * @param config the text of {@code tokenizer_config.json}; null if there is none
   * @return the text of a {@code tokenizer.json}
   * @throws TokenizerException if the model is damaged, or its rules are not known
   */
  static String of(Path file, byte[] bytes, @Nullable String config) throws TokenizerException {
    JsonNode settings = settings(file, config);
    SentencePieceModel model = SentencePieceModel.read(file, bytes);
    ObjectNode root = JSON.createObjectNode().put("version", "1.0");
    root.putNull("truncation").putNull("padding");
    Map<String, Integer> ids = new HashMap<>();
    for (Piece piece : model.pieces()) {
      ids.put(piece.text(), ids.size());
    }
    addTokens(file, root.putArray("added_tokens"), model, settings.path("added_tokens_decoder"));
    addSpaces(root, settings);
    addFrame(file, root, settings, ids);
    root.putNull("decoder");
    if (model.algorithm() == Algorithm.BPE) {
      addPairs(root.putObject("model"), model, ids);
    } else if (model.algorithm() == Algorithm.UNIGRAM) {
      addUnigram(root.putObject("model"), model);
    } else {
      throw new TokenizerException(file, "divides texts by " + model.algorithm());
    }
    return root.toString();
  }

  private static JsonNode settings(Path file, @Nullable String config) throws TokenizerException {
    JsonNode settings;
    try {
      settings = JSON.readTree(config == null ? "{}" : config);
    } catch (IOException e) {
      throw new TokenizerException(
          file.resolveSibling("tokenizer_config.json"), "is no JSON: " + e.getMessage(), e);
    }
    String named = settings.path("tokenizer_class").asText();
    if (!named.equals("LlamaTokenizer") && !named.equals("LlamaTokenizerFast")) {
      throw new TokenizerException(
          file,
          "is a SentencePiece model, which needs the tokenizer.json that was made of it, or a"
              + " tokenizer_config.json with tokenizer_class LlamaTokenizer, not '"
              + named
              + "'");
    }
    return settings;
  }

  /** Tokens that texts are cut at: the model's own, and those of the configuration. */
  private static void addTokens(
      Path file, ArrayNode to, SentencePieceModel model, JsonNode configured)
      throws TokenizerException {
    Map<Integer, ObjectNode> added = new HashMap<>();
    List<Piece> pieces = model.pieces();
    for (int id = 0; id < pieces.size(); id++) {
      Kind kind = pieces.get(id).kind();
      if (kind == Kind.CONTROL || kind == Kind.USER_DEFINED || kind == Kind.UNKNOWN) {
        added.put(id, token(id, pieces.get(id).text(), kind != Kind.USER_DEFINED));
      }
    }
    for (Map.Entry<String, JsonNode> each : configured.properties()) {
      int id;
      try {
        id = Integer.parseInt(each.getKey());
      } catch (NumberFormatException e) {
        throw new TokenizerException(file, "has an added token with the id " + each.getKey(), e);
      }
      JsonNode says = each.getValue();
      ObjectNode token = token(id, says.path("content").asText(), says.path("special").asBoolean());
      for (String flag : new String[] {"lstrip", "rstrip", "single_word", "normalized"}) {
        token.put(flag, says.path(flag).asBoolean());
      }
      added.put(id, token);
    }
    added.keySet().stream().sorted().forEach(id -> to.add(added.get(id)));
  }

  private static ObjectNode token(int id, String content, boolean special) {
    return JSON.createObjectNode()
        .put("id", id)
        .put("content", content)
        .put("single_word", false)
        .put("lstrip", false)
        .put("rstrip", false)
        .put("normalized", false)
        .put("special", special);
  }

  /** Spaces are characters of pieces; a text begins with one. */
  private static void addSpaces(ObjectNode root, JsonNode settings) {
    boolean begins = settings.path("add_prefix_space").asBoolean(true);
    if (settings.path("legacy").asBoolean(true)) {
      // Also behind each added token.
      ArrayNode steps =
          root.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
      if (begins) {
        steps.addObject().put("type", "Prepend").put("prepend", SPACE);
      }
      ObjectNode replace = steps.addObject().put("type", "Replace");
      replace.putObject("pattern").put("String", " ");
      replace.put("content", SPACE);
      root.putNull("pre_tokenizer");
    } else {
      root.putNull("normalizer");
      root.putObject("pre_tokenizer")
          .put("type", "Metaspace")
          .put("replacement", SPACE)
          .put("prepend_scheme", begins ? "first" : "never")
          .put("split", false);
    }
  }

  /** What is in front of and behind each text. */
  private static void addFrame(
      Path file, ObjectNode root, JsonNode settings, Map<String, Integer> ids)
      throws TokenizerException {
    ObjectNode post = root.putObject("post_processor").put("type", "TemplateProcessing");
    ArrayNode single = post.putArray("single");
    ArrayNode pair = post.putArray("pair");
    ObjectNode special = post.putObject("special_tokens");
    boolean ends = settings.path("add_eos_token").asBoolean(false);
    if (settings.path("add_bos_token").asBoolean(true)) {
      frame(file, settings, "bos_token", "<s>", ids, single, pair, special);
    }
    single.addObject().putObject("Sequence").put("id", "A").put("type_id", 0);
    pair.addObject().putObject("Sequence").put("id", "A").put("type_id", 0);
    pair.addObject().putObject("Sequence").put("id", "B").put("type_id", 1);
    if (ends) {
      frame(file, settings, "eos_token", "</s>", ids, single, pair, special);
    }
  }

  private static void frame(
      Path file,
      JsonNode settings,
      String name,
      String usual,
      Map<String, Integer> ids,
      ArrayNode single,
      ArrayNode pair,
      ObjectNode special)
      throws TokenizerException {
    JsonNode says = settings.path(name);
    String token = says.isObject() ? says.path("content").asText() : says.asText(usual);
    Integer id = ids.get(token);
    if (id == null) {
      throw new TokenizerException(file, "adds " + name + " '" + token + "', which is no piece");
    }
    for (ArrayNode template : List.of(single, pair)) {
      template.addObject().putObject("SpecialToken").put("id", token).put("type_id", 0);
    }
    ObjectNode entry = special.putObject(token).put("id", token);
    entry.putArray("ids").add(id);
    entry.putArray("tokens").add(token);
  }

  private static void addUnigram(ObjectNode to, SentencePieceModel model) {
    to.put("type", "Unigram").put("unk_id", model.unknown()).put("byte_fallback", true);
    ArrayNode vocabulary = to.putArray("vocab");
    for (Piece piece : model.pieces()) {
      vocabulary.addArray().add(piece.text()).add((double) score(piece));
    }
  }

  /** Tokens that texts do not have count as the first three of a model do. */
  private static float score(Piece piece) {
    return piece.kind() == Kind.CONTROL || piece.kind() == Kind.UNKNOWN ? 0 : piece.score();
  }

  /**
   * A merge makes a piece of two others.
   *
   * @param leftLength in characters
   */
  private record Merge(String left, String right, float score, int leftLength, int rightLength) {}

  private static void addPairs(ObjectNode to, SentencePieceModel model, Map<String, Integer> ids) {
    String unknown = model.pieces().get(model.unknown()).text();
    to.put("type", "BPE").putNull("dropout").put("unk_token", unknown);
    to.putNull("continuing_subword_prefix").putNull("end_of_word_suffix");
    to.put("fuse_unk", true).put("byte_fallback", true).put("ignore_merges", false);
    ObjectNode vocabulary = to.putObject("vocab");
    for (Piece piece : model.pieces()) {
      vocabulary.put(piece.text(), ids.get(piece.text()));
    }
    ArrayNode merges = to.putArray("merges");
    for (Merge merge : merges(model, ids)) {
      merges.addArray().add(merge.left()).add(merge.right());
    }
  }

  /** All pairs of pieces that make a piece, the best first. */
  private static List<Merge> merges(SentencePieceModel model, Map<String, Integer> ids) {
    List<Merge> merges = new ArrayList<>();
    for (Piece piece : model.pieces()) {
      String text = piece.text();
      List<Merge> ways = new ArrayList<>();
      int length = text.codePointCount(0, text.length());
      int at = 0;
      for (int i = 1; i < length; i++) {
        at = text.offsetByCodePoints(at, 1);
        String left = text.substring(0, at);
        String right = text.substring(at);
        if (ids.containsKey(left) && ids.containsKey(right)) {
          ways.add(new Merge(left, right, score(piece), i, length - i));
        }
      }
      ways.sort(
          Comparator.comparingInt((Merge way) -> ids.get(way.left()))
              .thenComparingInt(way -> ids.get(way.right())));
      merges.addAll(ways);
    }
    merges.sort(
        Comparator.comparingDouble(Merge::score)
            .thenComparingInt(Merge::leftLength)
            .thenComparingInt(Merge::rightLength)
            .reversed());
    return merges;
  }
}
