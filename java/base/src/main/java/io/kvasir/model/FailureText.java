package io.kvasir.model;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The reason of a failure in words. Stateless. */
public final class FailureText {

  private FailureText() {}

  /**
   * The message of an exception, in one line. Exceptions without a message, and those of files
   * whose message is only a path, get a reason.
   *
   * @param failure the exception
   * @return text that is not empty
   */
  public static String of(Throwable failure) {
    if (failure instanceof FileSystemException file && file.getReason() == null) {
      return file.getFile() + ": " + reason(file);
    }
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message.replaceAll("\\s+", " ");
  }

  private static String reason(FileSystemException failure) {
    if (failure instanceof NoSuchFileException) {
      return "no such file or folder";
    }
    if (failure instanceof AccessDeniedException) {
      return "access denied";
    }
    return failure instanceof FileAlreadyExistsException
        ? "exists already"
        : failure.getClass().getSimpleName();
  }
}
