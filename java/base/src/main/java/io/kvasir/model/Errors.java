package io.kvasir.model;

import java.io.EOFException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** Words for error messages. Stateless. */
public final class Errors {

  private static final int SHOWN_CHARACTERS = 200;

  private Errors() {}

  /**
   * A value as errors show it.
   *
   * @param value the value; may be null
   * @return its text, cut at 200 characters
   */
  public static String shown(@Nullable Object value) {
    String text = String.valueOf(value);
    if (text.length() <= SHOWN_CHARACTERS) {
      return text;
    }
    boolean splitsPair = Character.isHighSurrogate(text.charAt(SHOWN_CHARACTERS - 1));
    String start = text.substring(0, splitsPair ? SHOWN_CHARACTERS - 1 : SHOWN_CHARACTERS);
    return start + "... (" + text.length() + " characters)";
  }

  /**
   * The reason for a failure. Java's own messages can be missing, only a path, or only the
   * signature of a native function.
   *
   * @param failure the failure
   * @return its message, with words where the message has none, and with the paths of a {@link
   *     FileSystemException} cut like {@linkplain #shown values}
   */
  public static String reason(Throwable failure) {
    if (failure instanceof EOFException) {
      return "the data ends too early";
    }
    String message = failure.getMessage();
    if (failure instanceof FileSystemException file && file.getFile() != null) {
      String other = file.getOtherFile() == null ? "" : " -> " + shown(file.getOtherFile());
      return shown(file.getFile()) + other + ": " + what(file);
    }
    if (failure instanceof LinkageError && isName(message)) {
      return "the Java classes and the native library do not fit together; build both again ("
          + failure
          + ")";
    }
    if (message != null && !message.isBlank()) {
      return message;
    }
    return failure.getClass().getSimpleName();
  }

  private static String what(FileSystemException failure) {
    if (failure.getReason() != null) {
      return failure.getReason();
    }
    if (failure instanceof NoSuchFileException) {
      return "no such file or directory";
    }
    if (failure instanceof AccessDeniedException) {
      return "access denied";
    }
    return failure instanceof FileAlreadyExistsException
        ? "exists already"
        : failure.getClass().getSimpleName();
  }

  /** Whether a message is only the name of a class, or the signature of a function in quotes. */
  private static boolean isName(@Nullable String message) {
    return message == null || message.startsWith("'") || message.matches("[\\w/$.]*");
  }
}
