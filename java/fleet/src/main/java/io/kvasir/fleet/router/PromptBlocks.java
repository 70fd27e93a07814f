package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The names of a prompt's blocks, by its tokens or by its text. Each is computed when it is first
 * asked for, once for each naming and block size, on the asking thread. Thread-safe.
 */
final class PromptBlocks {

  private static final BlockHashes NONE = new BlockHashes(new long[0], new long[0]);

  /** Prompts of a request whose blocks are named. */
  private static final int MAX_PROMPTS = 64;

  /** Of all requests of the process: hashes depend on nothing but tokens and scope. */
  private static final HashedPrompts EARLIER = new HashedPrompts(32 << 20);

  /** So large that a text is only measured. */
  private static final int UNBOUNDED = Integer.MAX_VALUE;

  private final PromptSource prompt;

  /** The tokens, unless they are a prompt that was not decoded yet. */
  private final @Nullable List<int[]> knownTokens;

  private final CacheScope scope;
  private final @Nullable String conversationId;
  private final boolean hashesGiven;
  private final Map<Naming, BlockHashes> hashes = new ConcurrentHashMap<>();
  private final Map<Naming, List<long[]>> trtllmKeys = new ConcurrentHashMap<>();
  private final Map<Naming, List<BlockHashes>> further = new ConcurrentHashMap<>();

  /** Tokens that the text would be; negative until it was read. */
  private volatile int textTokens = -1;

  /**
   * A way to name blocks.
   *
   * @param format a {@link HashFormat}, a {@link TrtllmHash} or, for text, {@link
   *     PromptSource.Form#TEXTS}
   * @param tokensPerBlock tokens in a block
   */
  record Naming(Object format, int tokensPerBlock) {}

  /**
   * Begins with what is known.
   *
   * @param prompt the prompt
   * @param knownTokens its tokens; null if there are none, or the prompt has them and was not
   *     decoded yet
   * @param scope LoRA adapter and salt
   * @param conversationId the conversation's id; null for none
   * @param given hashes of tokens that the caller has computed
   */
  PromptBlocks(
      PromptSource prompt,
      @Nullable List<int[]> knownTokens,
      CacheScope scope,
      @Nullable String conversationId,
      Map<Naming, BlockHashes> given) {
    this.prompt = prompt;
    this.knownTokens = knownTokens;
    this.scope = scope;
    this.conversationId = conversationId;
    this.hashesGiven = !given.isEmpty();
    if (hashesGiven) { // else the map would begin with room for one
      hashes.putAll(given);
    }
  }

  /** {@link FleetRequest#tokens()}. */
  @Nullable List<int[]> tokens() {
    return knownTokens == null && prompt.form() == PromptSource.Form.TOKENS
        ? ((Prompt.Tokens) prompt.prompt()).sequences()
        : knownTokens;
  }

  /** {@link FleetRequest#isTokenised()}. */
  boolean isTokenised() {
    return hashesGiven || prompt.form() == PromptSource.Form.TOKENS || knownTokens != null;
  }

  /** Tokens of the prompt; if it has none, one for every four bytes of its text. */
  int countTokens() {
    List<int[]> tokens = tokens();
    if (tokens != null) {
      return size(tokens);
    }
    if (textTokens < 0) {
      List<TextBlocks> unused = readTexts(UNBOUNDED);
    }
    return textTokens;
  }

  /** Number of tokens, at most the largest integer. */
  static int size(List<int[]> tokens) {
    long sum = tokens.stream().mapToLong(sequence -> sequence.length).sum();
    return (int) Math.min(sum, Integer.MAX_VALUE);
  }

  /** {@link FleetRequest#hashes(HashFormat, int)}. */
  BlockHashes hashes(HashFormat format, int tokensPerBlock) {
    return hashes.computeIfAbsent(
        new Naming(format, tokensPerBlock),
        naming -> {
          List<int[]> tokens = tokens();
          return tokens == null || tokens.isEmpty()
              ? NONE
              : EARLIER.hash(
                  NativeBlockHasher.of(format, tokensPerBlock),
                  conversationId,
                  tokens.get(0),
                  scope);
        });
  }

  /** {@link FleetRequest#furtherHashes(HashFormat, int)}. */
  List<BlockHashes> furtherHashes(HashFormat format, int tokensPerBlock) {
    List<int[]> tokens = hashesGiven ? null : tokens();
    if (tokens == null || tokens.size() < 2) {
      return List.of();
    }
    return further.computeIfAbsent(
        new Naming(format, tokensPerBlock),
        naming -> {
          NativeBlockHasher hasher = NativeBlockHasher.of(format, tokensPerBlock);
          return tokens.stream()
              .limit(MAX_PROMPTS)
              .skip(1)
              .map(each -> hasher.hash(each, scope))
              .toList();
        });
  }

  /** {@link FleetRequest#textHashes(int)}. */
  BlockHashes textHashes(int tokensPerBlock) {
    return hashes.computeIfAbsent(
        new Naming(PromptSource.Form.TEXTS, tokensPerBlock),
        naming -> {
          List<TextBlocks> texts = readTexts(tokensPerBlock);
          if (texts.size() > 1) {
            further.put(naming, texts.stream().skip(1).map(TextBlocks::hashes).toList());
          }
          return texts.get(0).hashes();
        });
  }

  /** {@link FleetRequest#furtherTextHashes(int)}. */
  List<BlockHashes> furtherTextHashes(int tokensPerBlock) {
    BlockHashes unused = textHashes(tokensPerBlock);
    return further.getOrDefault(new Naming(PromptSource.Form.TEXTS, tokensPerBlock), List.of());
  }

  /** Reads the texts, at least one. */
  private List<TextBlocks> readTexts(int tokensPerBlock) {
    Texts texts = new Texts(tokensPerBlock);
    if (prompt.form() != PromptSource.Form.TOKENS) {
      prompt.forEachText(texts);
    }
    textTokens = texts.tokens();
    return texts.named;
  }

  /** Names the blocks of one text after the other. */
  private final class Texts implements TextSink {

    final List<TextBlocks> named = new ArrayList<>(1);
    private final int tokensPerBlock;

    /** Measures the texts that are too many to be named. */
    private final TextBlocks rest = new TextBlocks(UNBOUNDED, scope);

    private TextBlocks current;

    Texts(int tokensPerBlock) {
      this.tokensPerBlock = tokensPerBlock;
      this.current = new TextBlocks(tokensPerBlock, scope);
      named.add(current);
    }

    @Override
    public void next() {
      if (named.size() == MAX_PROMPTS) {
        current = rest;
      } else {
        current = new TextBlocks(tokensPerBlock, scope);
        named.add(current);
      }
    }

    @Override
    public void accept(byte[] utf8, int from, int to) {
      current.accept(utf8, from, to);
    }

    int tokens() {
      long sum = rest.tokens();
      for (TextBlocks each : named) {
        sum += each.tokens();
      }
      return (int) Math.min(sum, Integer.MAX_VALUE);
    }
  }

  /** {@link FleetRequest#trtllmKeys(TrtllmHash, int)}. */
  List<long[]> trtllmKeys(TrtllmHash naming, int tokensPerBlock) {
    return trtllmKeys.computeIfAbsent(
        new Naming(naming, tokensPerBlock),
        key -> {
          List<long[]> keys = new ArrayList<>();
          List<int[]> tokens = tokens();
          for (int[] sequence : tokens == null ? List.<int[]>of() : tokens) {
            keys.add(naming.keys(sequence, tokensPerBlock, scope));
          }
          return keys;
        });
  }
}
