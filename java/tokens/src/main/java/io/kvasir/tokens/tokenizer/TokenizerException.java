package io.kvasir.tokens.tokenizer;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A tokenizer cannot be opened, or a text cannot be tokenized. The message is one line; where a
 * file is at fault it begins with its name. It contains no text of prompts.
 */
public final class TokenizerException extends Exception {

  private static final long serialVersionUID = 1;

  private static final int MAX_REASON = 300;

  /**
   * Makes the exception of a text.
   *
   * @param reason the reason: "a text of 3 characters exceeds ..."
   */
  public TokenizerException(String reason) {
    super(oneLine(reason));
  }

  /**
   * Makes the exception of a file.
   *
   * @param file the file
   * @param reason the reason: "is empty"
   */
  public TokenizerException(Path file, String reason) {
    this(file, reason, null);
  }

  /**
   * Makes the exception of a file.
   *
   * @param file the file
   * @param reason the reason: "cannot be read: ..."
   * @param cause the cause, or null
   */
  public TokenizerException(Path file, String reason, @Nullable Throwable cause) {
    super(file + ": " + oneLine(reason), cause);
  }

  private static String oneLine(String reason) {
    String line = reason.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
    return line.length() <= MAX_REASON ? line : line.substring(0, MAX_REASON) + "...";
  }
}
