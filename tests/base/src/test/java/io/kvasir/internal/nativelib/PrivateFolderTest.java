package io.kvasir.internal.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder with content that another user could change is refused. */
class PrivateFolderTest {

  private static final int STRANGER = 12_346;

  @TempDir Path folder;

  private static Path mode(Path path, String mode) throws IOException {
    return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  private static void refuses(Path path, String reason) {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> PrivateFolder.require(path))
        .withMessageContaining(reason);
  }

  @Test
  void aMissingFolderIsCreatedForItsOwnerOnly() throws IOException {
    Path created = PrivateFolder.require(folder.resolve("above").resolve("private"));
    assertThat(Files.getPosixFilePermissions(created))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(PrivateFolder.require(created)).isEqualTo(created);
  }

  @Test
  void aFolderThatOthersCanOpenIsRefused() throws IOException {
    Path open = mode(Files.createDirectory(folder.resolve("open")), "rwxr-xr-x");
    refuses(open, "must have mode 0700, not 0755");
  }

  @Test
  void aSymbolicLinkAndAFileAreRefused() throws IOException {
    Path target = PrivateFolder.require(folder.resolve("target"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), target);
    refuses(link, "no symbolic link");
    refuses(Files.createFile(folder.resolve("file")), "must be a folder");
  }

  @Test
  void aFolderThatOthersCanReplaceIsRefused() throws IOException {
    Path shared = mode(Files.createDirectory(folder.resolve("shared")), "rwxrwxrwx");
    refuses(shared.resolve("private"), "other users can write to");
    assertThat(shared.resolve("private")).doesNotExist();
  }

  @Test
  void foldersOfAnotherUserAreRefused() throws IOException {
    assumeThat(((Number) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).intValue())
        .as("only root can give a folder to another user")
        .isZero();
    Path planted = PrivateFolder.require(folder.resolve("planted"));
    Files.setAttribute(planted, "unix:uid", STRANGER, LinkOption.NOFOLLOW_LINKS);
    refuses(planted, "belongs to user " + STRANGER);
    refuses(planted.resolve("below"), "belongs to user " + STRANGER);
  }
}
