package io.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FailureTextTest {

  @Test
  void everyFailureHasAReason() {
    assertThat(FailureText.of(new IOException("disk\n  full"))).isEqualTo("disk full");
    assertThat(FailureText.of(new EOFException())).isEqualTo("EOFException");
    assertThat(FailureText.of(new NoSuchFileException("a"))).isEqualTo("a: no such file or folder");
    assertThat(FailureText.of(new AccessDeniedException("a"))).isEqualTo("a: access denied");
    assertThat(FailureText.of(new FileAlreadyExistsException("a"))).isEqualTo("a: exists already");
    assertThat(FailureText.of(new FileSystemLoopException("a")))
        .isEqualTo("a: FileSystemLoopException");
    assertThat(FailureText.of(new FileSystemException("a", null, "Is a directory")))
        .isEqualTo("a: Is a directory");
  }
}
