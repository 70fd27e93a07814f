package io.kvasir.internal.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the cache returns has the content of the jar, whatever was in its place. */
class LibraryCacheTest {

  private static final String LIBRARY = "library.txt";
  private static final String CONTENT = "the library of the jar\n";

  @TempDir Path temporary;
  private Path folder;
  private LibraryCache cache;

  @BeforeEach
  void openCache() throws IOException {
    folder = PrivateFolder.require(temporary.resolve("cache"));
    cache = new LibraryCache(folder);
  }

  @Test
  void aResourceIsExtractedOnce() throws IOException {
    Path file = cache.file(LibraryCacheTest.class, LIBRARY);
    assertThat(file).hasContent(CONTENT);
    FileTime old = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(file, old);
    assertThat(cache.file(LibraryCacheTest.class, LIBRARY)).isEqualTo(file);
    assertThat(Files.getLastModifiedTime(file)).isEqualTo(old);
    assertThat(folder).isDirectoryNotContaining("glob:**/new-*");
  }

  /** JavaCPP's own cache compares name, size and time only. */
  @Test
  void aPlantedFileOfTheSameSizeAndTimeIsReplaced() throws IOException {
    Path file = cache.file(LibraryCacheTest.class, LIBRARY);
    FileTime time = Files.getLastModifiedTime(file);
    Files.writeString(file, CONTENT.replace("library", "bandits"));
    Files.setLastModifiedTime(file, time);
    assertThat(cache.file(LibraryCacheTest.class, LIBRARY)).hasContent(CONTENT);
  }

  @Test
  void aSymbolicLinkInPlaceOfTheFileIsReplaced() throws IOException {
    Path file = cache.file(LibraryCacheTest.class, LIBRARY);
    Path elsewhere = Files.writeString(temporary.resolve("elsewhere"), CONTENT);
    Files.delete(file);
    Files.createSymbolicLink(file, elsewhere);
    assertThat(cache.file(LibraryCacheTest.class, LIBRARY)).isEqualTo(file);
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(file).hasContent(CONTENT);
  }

  @Test
  void aResourceThatDiffersFromItsDigestIsRefused() {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> cache.file(LibraryCacheTest.class, "tampered.txt"))
        .withMessage("tampered.txt in the jar does not match its digest");
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> cache.file(LibraryCacheTest.class, "missing.txt"))
        .withMessageContaining("missing.txt.sha256: not in the jar");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void oldVersionsAreRemovedWhenANewOneIsExtracted() throws IOException {
    Path old = Files.createDirectory(folder.resolve("0123456789abcdef"));
    Files.writeString(old.resolve(LIBRARY), "old");
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(30))));
    Path recent = Files.createDirectory(folder.resolve("fedcba9876543210"));
    cache.file(LibraryCacheTest.class, LIBRARY);
    assertThat(old).doesNotExist();
    assertThat(recent).exists();
  }
}
