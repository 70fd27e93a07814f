package io.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class ErrorsTest {

  @Test
  void longValuesAreCutBetweenCharacters() {
    assertThat(Errors.shown(null)).isEqualTo("null");
    assertThat(Errors.shown("x".repeat(200))).isEqualTo("x".repeat(200));
    assertThat(Errors.shown("x".repeat(201))).isEqualTo("x".repeat(200) + "... (201 characters)");
    assertThat(Errors.shown("x".repeat(199) + "\ud83d\ude00"))
        .isEqualTo("x".repeat(199) + "... (201 characters)");
  }

  @Test
  void longPathsAreCut() {
    String path = "x".repeat(300);
    String cut = "x".repeat(200) + "... (300 characters)";
    assertThat(Errors.reason(new NoSuchFileException(path)))
        .isEqualTo(cut + ": no such file or directory");
    assertThat(Errors.reason(new FileSystemException(path, null, "File name too long")))
        .isEqualTo(cut + ": File name too long");
    assertThat(Errors.reason(new FileSystemException(path, path, "Invalid cross-device link")))
        .isEqualTo(cut + " -> " + cut + ": Invalid cross-device link");
    assertThat(Errors.reason(new FileSystemException(null, null, "no space")))
        .isEqualTo("no space");
  }

  @Test
  void failuresWithoutWordsGetSome() {
    assertThat(Errors.reason(new IOException("disk is full"))).isEqualTo("disk is full");
    assertThat(Errors.reason(new EOFException())).isEqualTo("the data ends too early");
    assertThat(Errors.reason(new IOException())).isEqualTo("IOException");
    assertThat(Errors.reason(new NoSuchFileException("a")))
        .isEqualTo("a: no such file or directory");
    assertThat(Errors.reason(new AccessDeniedException("a"))).isEqualTo("a: access denied");
    assertThat(Errors.reason(new UnsatisfiedLinkError("'int io.kvasir.Library.call(long)'")))
        .startsWith("the Java classes and the native library do not fit together");
    assertThat(Errors.reason(new NoClassDefFoundError("io/kvasir/Library")))
        .startsWith("the Java classes and the native library do not fit together");
    assertThat(Errors.reason(new UnsatisfiedLinkError("the library cannot be loaded")))
        .isEqualTo("the library cannot be loaded");
  }
}
