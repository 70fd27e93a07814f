package io.kvasir.internal.nativelib;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.stream.Stream;

/**
 * Native libraries that were extracted from jars, in a folder that no other user can change. A file
 * is used only if its SHA-256 is the one in its jar.
 *
 * <p>Several processes may use a folder at the same time: files appear whole, and equal names mean
 * equal contents.
 */
final class LibraryCache {

  private static final Duration KEPT = Duration.ofDays(7);

  private final Path folder;

  /**
   * Opens a cache.
   *
   * @param folder a folder that {@link PrivateFolder} has checked
   */
  LibraryCache(Path folder) {
    this.folder = folder;
  }

  /**
   * Returns a file with the content of a resource; extracts it if it is missing or differs.
   *
   * @param owner a class whose package holds the resource, and its digest as {@code
   *     RESOURCE.sha256}
   * @param resource path of the resource, relative to that package
   * @return the file
   * @throws IOException if the resource or its digest is missing, they do not belong together, or
   *     the file cannot be written
   */
  Path file(Class<?> owner, String resource) throws IOException {
    String digest = digest(owner, resource);
    String name = resource.substring(resource.lastIndexOf('/') + 1);
    Path version = folder.resolve(digest.substring(0, 16));
    Path file = version.resolve(name);
    if (!has(file, digest)) {
      removeOldVersions();
      extract(owner, resource, digest, version, file);
    }
    return file;
  }

  private static String digest(Class<?> owner, String resource) throws IOException {
    try (InputStream in = owner.getResourceAsStream(resource + ".sha256")) {
      if (in == null) {
        throw new NoSuchFileException(resource + ".sha256", null, "not in the jar");
      }
      String digest = new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip();
      if (!digest.matches("[0-9a-f]{64}")) {
        throw new IOException(resource + ".sha256 in the jar is damaged");
      }
      return digest;
    }
  }

  /** Whether a file is there and has that content. Follows no symbolic link. */
  private static boolean has(Path file, String digest) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      MessageDigest sum = sha256();
      byte[] bytes = new byte[1 << 16];
      for (int read = in.read(bytes); read > 0; read = in.read(bytes)) {
        sum.update(bytes, 0, read);
      }
      return HexFormat.of().formatHex(sum.digest()).equals(digest);
    }
  }

  private void extract(Class<?> owner, String resource, String digest, Path version, Path file)
      throws IOException {
    Path draft =
        Files.createTempFile(
            folder,
            "new-",
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (InputStream in = owner.getResourceAsStream(resource)) {
      if (in == null) {
        throw new NoSuchFileException(resource, null, "not in the jar");
      }
      Files.copy(in, draft, StandardCopyOption.REPLACE_EXISTING);
      if (!has(draft, digest)) {
        throw new IOException(resource + " in the jar does not match its digest");
      }
      PrivateFolder.require(version);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** Best effort: a version that another process uses stays mapped there. */
  private void removeOldVersions() {
    Instant oldest = Instant.now().minus(KEPT);
    try (Stream<Path> versions = Files.list(folder)) {
      for (Path version : versions.toList()) {
        if (Files.getLastModifiedTime(version).toInstant().isBefore(oldest)) {
          remove(version);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // The next extraction tries again.
    }
  }

  /** Removes a folder and what is below it, as far as possible. */
  static void remove(Path folder) {
    try {
      if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        try (Stream<Path> files = Files.list(folder)) {
          files.forEach(LibraryCache::remove);
        }
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // The rest of the folder is private and small.
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
