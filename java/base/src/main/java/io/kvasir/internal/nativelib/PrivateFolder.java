package io.kvasir.internal.nativelib;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Folders that no other user can change: owned by this process's user, mode 0700, not a symbolic
 * link, and below folders in which no other user can replace them. Stateless.
 */
public final class PrivateFolder {

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int STICKY = 01000;
  private static final int WRITABLE_BY_OTHERS = 0022;
  private static final int OPEN_TO_OTHERS = 0077;
  private static final int ROOT = 0;

  private PrivateFolder() {}

  /**
   * Creates a folder if it is missing, and checks it and the folders above it.
   *
   * @param folder an absolute path; missing folders above it are created too
   * @return the folder's path without symbolic links
   * @throws IOException naming the first folder that another user could change, or that cannot be
   *     created or written
   */
  public static Path require(Path folder) throws IOException {
    Path name = folder.getFileName();
    Path parent = folder.getParent();
    if (name == null || parent == null) {
      throw new IOException(folder + " must be an absolute path of a folder below /");
    }
    if (!Files.isDirectory(parent)) {
      Files.createDirectories(parent, OWNER_ONLY);
    }
    Path real = parent.toRealPath().resolve(name);
    long user = user();
    for (Path above = real.getParent(); above != null; above = above.getParent()) {
      requireSafe(above, user);
    }
    try {
      Files.createDirectory(real, OWNER_ONLY);
    } catch (FileAlreadyExistsException e) {
      // Checked below like one of our own.
    }
    requirePrivate(real, user);
    return real;
  }

  private static void requirePrivate(Path folder, long user) throws IOException {
    Map<String, Object> attributes = attributes(folder);
    if (!Boolean.TRUE.equals(attributes.get("isDirectory"))) {
      throw new IOException(folder + " must be a folder and no symbolic link");
    }
    if (owner(attributes) != user) {
      throw new IOException(folder + " belongs to user " + owner(attributes) + ", not " + user);
    }
    if ((mode(attributes) & OPEN_TO_OTHERS) != 0) {
      throw new IOException(
          String.format("%s must have mode 0700, not %04o", folder, mode(attributes) & 07777));
    }
    if (!Files.isWritable(folder)) {
      throw new IOException(folder + " cannot be written");
    }
  }

  /** Refuses a folder in which a user other than this one and root can replace entries. */
  private static void requireSafe(Path folder, long user) throws IOException {
    Map<String, Object> attributes = attributes(folder);
    if (owner(attributes) != user && owner(attributes) != ROOT) {
      throw new IOException(folder + " belongs to user " + owner(attributes) + ", not " + user);
    }
    int mode = mode(attributes);
    if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
      throw new IOException(
          String.format("other users can write to %s (mode %04o)", folder, mode & 07777));
    }
  }

  private static Map<String, Object> attributes(Path path) throws IOException {
    return Files.readAttributes(path, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
  }

  private static long owner(Map<String, Object> attributes) {
    return number(attributes, "uid");
  }

  private static int mode(Map<String, Object> attributes) {
    return (int) number(attributes, "mode");
  }

  private static long number(Map<String, Object> attributes, String name) {
    return ((Number) Objects.requireNonNull(attributes.get(name))).longValue();
  }

  /** The number of the user that owns what this process creates. */
  private static long user() throws IOException {
    Path process = Path.of("/proc/self");
    if (Files.exists(process)) {
      return ((Number) Files.getAttribute(process, "unix:uid")).longValue();
    }
    Path file = Files.createTempFile("kvasir", null);
    try {
      return owner(attributes(file));
    } finally {
      Files.delete(file);
    }
  }
}
