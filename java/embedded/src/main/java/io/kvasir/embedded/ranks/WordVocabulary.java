package io.kvasir.embedded.ranks;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The vocabulary. Tokens 0 to 255 are the bytes of UTF-8 text; prompts are made of them. The tokens
 * behind them are words with a leading space; answers are made of them. Other tokens may appear in
 * prompts that are lists of token ids and have no text. Stateless.
 */
final class WordVocabulary {

  /** The token of the first word. */
  static final int FIRST = 256;

  private static final List<String> WORDS =
      List.of(
          """
          a about above across after again all along also always an and another any are around as \
          at away back be because been before began behind being below best better between big \
          black blue boat book both bread bridge bright bring brown but by call came can carry \
          centre change city clear close cloud coast cold come could country cross dark day deep \
          did different do door down draw dry each early earth east easy end enough even evening \
          every eye face fall far farm fast feel few field find fine fire first fish five floor \
          flow follow food for forest form found four free fresh friend from front full garden \
          gave get give glass go gold good grass great green ground grow had half hand hard has \
          have he head hear heart heat heavy held help her here high hill him his hold home hour \
          house how hundred idea if in inside into is island it keep kind know lake land large \
          last late lead leaf learn left less let letter life light like line little live long \
          look made main make man many map mark may mean met middle might mile mind moon more \
          morning most mountain move much must name near need never new next night no north not \
          note now number of off often old on once one only open or other our out over own page \
          paper part pass past path people place plain plan plant play point port quick quiet rain \
          read ready real red rest right river road rock room round run said same sand say school \
          sea second see seem sense set seven ship shore short should show side simple since six \
          sky slow small snow so some song soon sound south space spring stand star start stay \
          step still stone stop story street strong such summer sun sure table take tell ten than \
          that the their them then there these they thing think this those three through time to \
          together told too top town tree true turn two under until up upon us use valley very \
          voice wait walk wall warm was watch water way we week well went were west what when \
          where which while white who whole why wide will wind window winter with word work world \
          would write year yellow yes yet you young your"""
              .split(" "));

  private WordVocabulary() {}

  /** Number of words. */
  static int count() {
    return WORDS.size();
  }

  /** The text of a word with its leading space. */
  static String text(int token) {
    return " " + WORDS.get(token - FIRST);
  }

  /** The tokens of a text: its UTF-8 bytes. O(bytes). */
  static int[] tokens(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] tokens = new int[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      tokens[i] = bytes[i] & 0xff;
    }
    return tokens;
  }

  /**
   * The text of tokens. Tokens without text are left out, and bytes that are not UTF-8 become
   * replacement characters. O(tokens).
   */
  static String text(int[] tokens) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(tokens.length);
    for (int token : tokens) {
      if (token >= 0 && token < FIRST) {
        bytes.write(token);
      } else if (token >= FIRST && token < FIRST + count()) {
        bytes.writeBytes(text(token).getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
