package io.kvasir.tokens.tokenizer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds added tokens in a text: the leftmost match, and of those that begin there the longest; then
 * on behind it. Immutable.
 *
 * <p>There may be two stages, as in Hugging Face's added vocabulary: tokens of the second are
 * searched only between matches of the first.
 */
final class AddedTokens {

  /** Longer tokens would make the search slow. */
  static final int MAX_TOKEN_CHARS = 512;

  private final Stage first;
  private final @Nullable AddedTokens second;

  private AddedTokens(Stage first, @Nullable AddedTokens second) {
    this.first = first;
    this.second = second;
  }

  /** Receives matches in the order of the text. */
  interface Matches {

    /**
     * A token.
     *
     * @param start where it begins
     * @param end where it ends
     * @param token the token
     */
    void onMatch(int start, int end, Token token);
  }

  /**
   * A token.
   *
   * @param content its text, not empty
   * @param id its id, or -1 if the tokenizer finds it itself
   * @param cuts whether a text may be cut where it begins
   */
  record Token(String content, int id, boolean cuts) {}

  /**
   * Makes a search for tokens.
   *
   * @param tokens different texts, none empty
   * @return the search
   */
  static AddedTokens of(Collection<Token> tokens) {
    return new AddedTokens(new Stage(tokens), null);
  }

  /**
   * Makes a search in two stages.
   *
   * @param tokens of the first stage
   * @param later of the second stage
   * @return the search
   */
  static AddedTokens of(Collection<Token> tokens, Collection<Token> later) {
    return new AddedTokens(new Stage(tokens), later.isEmpty() ? null : of(later));
  }

  /**
   * Finds all tokens of a text. O(n) if no token begins like another text than itself; at most
   * {@link #MAX_TOKEN_CHARS} times that.
   *
   * @param text the text
   * @param matches receives them
   */
  void find(String text, Matches matches) {
    find(text, 0, text.length(), matches);
  }

  private void find(String text, int from, int to, Matches matches) {
    int gap = from;
    int at = from;
    while ((at = first.next(text, at, to)) < to) {
      Token token = first.longest(text, at, to);
      if (token == null) {
        at++;
        continue;
      }
      if (second != null) {
        second.find(text, gap, at, matches);
      }
      int end = at + token.content().length();
      matches.onMatch(at, end, token);
      at = end;
      gap = end;
    }
    if (second != null) {
      second.find(text, gap, to, matches);
    }
  }

  /**
   * The places at which a text may be cut.
   *
   * @param text the text
   * @return where segments end, the text's end included; empty for an empty text
   */
  List<Integer> segmentEnds(String text) {
    List<Integer> ends = new ArrayList<>();
    find(
        text,
        (start, end, token) -> {
          if (token.cuts() && start > 0) {
            ends.add(start);
          }
        });
    if (!text.isEmpty()) {
      ends.add(text.length());
    }
    return ends;
  }

  /** A trie of characters. */
  private static final class Stage {

    private final boolean[] begins = new boolean[1 << Character.SIZE];
    private final Node root = new Node();

    Stage(Collection<Token> tokens) {
      for (Token token : tokens) {
        begins[token.content().charAt(0)] = true;
        Node node = root;
        for (int i = 0; i < token.content().length(); i++) {
          node = node.next.computeIfAbsent(token.content().charAt(i), any -> new Node());
        }
        node.token = token;
      }
    }

    /** The next place where a token may begin. */
    int next(String text, int from, int to) {
      int at = from;
      while (at < to && !begins[text.charAt(at)]) {
        at++;
      }
      return at;
    }

    @Nullable Token longest(String text, int at, int to) {
      Token longest = null;
      Node node = root;
      for (int i = at; i < to; i++) {
        node = node.next.get(text.charAt(i));
        if (node == null) {
          break;
        }
        if (node.token != null) {
          longest = node.token;
        }
      }
      return longest;
    }
  }

  private static final class Node {

    final Map<Character, Node> next = new HashMap<>(2);
    @Nullable Token token;
  }
}
