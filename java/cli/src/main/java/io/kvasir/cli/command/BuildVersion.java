package io.kvasir.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * What this build was made from.
 *
 * <p>Immutable.
 *
 * @param version version of Kvasir
 * @param commit abbreviated commit, with a note if files were changed; {@code unknown} without git
 * @param date day of the build, UTC
 */
record BuildVersion(String version, String commit, String date) {

  private static final String UNKNOWN = "unknown";

  /** Reads it from the resources of the build. */
  static BuildVersion read() {
    Properties properties = new Properties();
    for (String file : new String[] {"version.properties", "build.properties"}) {
      try (InputStream in = BuildVersion.class.getResourceAsStream(file)) {
        if (in != null) {
          properties.load(in);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return new BuildVersion(
        properties.getProperty("version", UNKNOWN),
        properties.getProperty("commit", UNKNOWN),
        properties.getProperty("date", UNKNOWN));
  }

  /** {@return whether the commit does not determine the build} */
  boolean isChanged() {
    return commit.equals(UNKNOWN) || commit.contains(" ");
  }

  /** {@return one line: version, commit and date} */
  @Override
  public String toString() {
    return version + " (commit " + commit + ", built " + date + ")";
  }
}
