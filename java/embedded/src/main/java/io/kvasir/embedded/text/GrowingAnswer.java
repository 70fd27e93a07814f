package io.kvasir.embedded.text;

import io.kvasir.embedded.api.AnswerText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer whose tokens are added as they are generated. */
final class GrowingAnswer implements AnswerText {

  private final List<String> pieces = new ArrayList<>();
  private boolean complete;

  /** Adds the text of some tokens, which counts as that of the first of them. */
  void add(String text, int tokens) {
    pieces.add(text);
    for (int i = 1; i < tokens; i++) {
      pieces.add("");
    }
  }

  /** Ends the answer. */
  void end(boolean byItself) {
    complete = byItself;
  }

  @Override
  public String piece(int index) {
    return pieces.get(index);
  }

  @Override
  public boolean complete() {
    return complete;
  }

  @Override
  public @Nullable String stop() {
    return null;
  }
}
