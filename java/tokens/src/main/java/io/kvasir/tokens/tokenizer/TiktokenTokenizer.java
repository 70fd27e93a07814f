package io.kvasir.tokens.tokenizer;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * A tiktoken file, with the added tokens of {@code tokenizer_config.json}. Thread-safe.
 *
 * <p>It holds nothing that must be released; after {@link #close} it refuses texts nevertheless.
 */
final class TiktokenTokenizer extends SegmentableTokenizer {

  /**
   * Kimi's ids behind those of the file are added tokens even where the configuration is silent.
   */
  private static final int KIMI_ADDED = 256;

  private final TiktokenRanks ranks;
  private final TiktokenPattern pattern;
  private final AddedTokens added;
  private final Frame frame;
  private volatile boolean closed;

  private TiktokenTokenizer(
      String digest, TiktokenRanks ranks, TiktokenPattern pattern, AddedTokens added, Frame frame) {
    super(digest);
    this.ranks = ranks;
    this.pattern = pattern;
    this.added = added;
    this.frame = frame;
  }

  /**
   * Opens a file.
   *
   * @param file the file; its name may say the pattern
   * @param bytes its contents
   * @param config the configuration, or null if there is none
   * @param digest of both
   * @return the tokenizer
   * @throws TokenizerException if the file is damaged, no pattern is known, or the added tokens are
   *     unknown
   */
  static TiktokenTokenizer open(
      Path file, byte[] bytes, @Nullable TokenizerConfig config, String digest)
      throws TokenizerException {
    String name = String.valueOf(file.getFileName());
    TiktokenRanks ranks = TiktokenRanks.read(file, bytes);
    String tokenizerClass = config == null ? "" : config.tokenizerClass();
    TiktokenPattern pattern =
        TiktokenPattern.of(name, tokenizerClass, ranks.size())
            .orElseThrow(
                () ->
                    new TokenizerException(
                        file,
                        "has an unknown pattern: neither its name nor tokenizer_class '"
                            + tokenizerClass
                            + "' is known"));
    if (config == null || config.added().isEmpty()) {
      throw new TokenizerException(
          file, "has unknown special tokens: tokenizer_config.json has no added_tokens_decoder");
    }
    for (AddedTokens.Token token : config.added()) {
      if (ranks.contains(token.id())) {
        throw new TokenizerException(
            file, "added token " + token.content() + " has the id of another token");
      }
    }
    return new TiktokenTokenizer(
        digest,
        ranks,
        pattern,
        AddedTokens.of(config.added(), reserved(pattern, ranks, config.added())),
        new Frame(ids(config.before()), ids(config.after())));
  }

  private static List<AddedTokens.Token> reserved(
      TiktokenPattern pattern, TiktokenRanks ranks, List<AddedTokens.Token> named) {
    List<AddedTokens.Token> reserved = new ArrayList<>();
    if (pattern == TiktokenPattern.KIMI) {
      Set<Integer> used = new HashSet<>();
      named.forEach(token -> used.add(token.id()));
      for (int id = ranks.size(); id < ranks.size() + KIMI_ADDED; id++) {
        if (!used.contains(id)) {
          reserved.add(new AddedTokens.Token("<|reserved_token_" + id + "|>", id, true));
        }
      }
    }
    return reserved;
  }

  private static int[] ids(List<Integer> ids) {
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  String normalize(String text) throws TokenizerException {
    return pattern == TiktokenPattern.QWEN ? ComposedText.of(text) : text;
  }

  @Override
  int[] encodeWhole(String prepared, boolean addSpecialTokens) {
    if (closed) {
      throw new IllegalStateException("the tokenizer is closed");
    }
    BytePairs pairs = new BytePairs(ranks);
    AtomicInteger gap = new AtomicInteger();
    added.find(
        prepared,
        (start, end, token) -> {
          addGap(prepared.substring(gap.getAndSet(end), start), pairs);
          pairs.add(token.id());
        });
    addGap(prepared.substring(gap.get()), pairs);
    return addSpecialTokens ? frame.around(pairs.ids()) : pairs.ids();
  }

  private void addGap(String text, BytePairs pairs) {
    if (pattern == TiktokenPattern.KIMI) {
      KimiDivision.of(text).forEach(part -> addWords(part, pairs));
    } else {
      addWords(text, pairs);
    }
  }

  private void addWords(String text, BytePairs pairs) {
    Matcher matcher = pattern.words().matcher(text);
    while (matcher.find()) {
      pairs.addWord(matcher.group().getBytes(StandardCharsets.UTF_8));
    }
  }

  @Override
  Frame frame() {
    return frame;
  }

  @Override
  AddedTokens cuts() {
    return added;
  }

  @Override
  String uncutReason() {
    return "";
  }

  @Override
  public void close() {
    closed = true;
  }
}
