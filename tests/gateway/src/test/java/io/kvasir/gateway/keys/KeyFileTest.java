package io.kvasir.gateway.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.Headers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of keys, and the keys that a gateway has of them. */
class KeyFileTest {

  private static final String GOOD =
      "{\"id\":\"aaaaaaaaaaaa\",\"sha256\":\"" + "0".repeat(64) + "\",\"name\":\"n\"}\n";

  @TempDir private Path folder;

  private static ClientKey key(IssuedKey issued, String name, KeyLimits limits, String salt) {
    return new ClientKey(issued.id(), issued.sha256(), name, "t", limits, salt);
  }

  private static Headers presenting(String name, String value) {
    return new Headers().add(name, value);
  }

  @Test
  void aFileHasWhatWasWrittenAndNotTheKey() throws IOException {
    IssuedKey one = IssuedKey.next(new SecureRandom());
    IssuedKey two = IssuedKey.next(new SecureRandom());
    List<ClientKey> keys =
        List.of(
            key(
                one,
                "one",
                new KeyLimits(List.of("m", "a/b"), 60, 1L << 33, 3, -5),
                "s".repeat(16)),
            key(two, "two", KeyLimits.NONE, "s".repeat(16)));
    Path file = folder.resolve("keys");
    KeyFile.write(file, keys);
    assertThat(KeyFile.read(file)).isEqualTo(keys);
    String secret = one.text().substring(one.text().length() - 43);
    assertThat(Files.readString(file)).doesNotContain(secret).contains(one.sha256());
    assertThat(mode(file)).isEqualTo("rw-------");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    KeyFile.write(file, List.of());
    assertThat(KeyFile.read(file)).isEmpty();
    assertThat(mode(file)).isEqualTo("rw-r-----");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void changesAtTheSameTimeAreAllKept() throws Exception {
    Path file = folder.resolve("keys");
    int threads = 4;
    int each = 10;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> changes = new ArrayList<>();
      for (int i = 0; i < threads * each; i++) {
        String name = "n" + i;
        changes.add(pool.submit(() -> add(file, name)));
      }
      for (Future<?> change : changes) {
        change.get();
      }
    } finally {
      pool.shutdown();
    }
    assertThat(KeyFile.read(file)).hasSize(threads * each);
    assertThat(mode(file)).isEqualTo("rw-------");
    KeyFile.update(file, keys -> null);
    assertThat(KeyFile.read(file)).hasSize(threads * each);
  }

  private static Void add(Path file, String name) throws IOException {
    KeyFile.update(
        file,
        keys -> {
          List<ClientKey> all = new ArrayList<>(keys);
          all.add(key(IssuedKey.next(new SecureRandom()), name, KeyLimits.NONE, null));
          return all;
        });
    return null;
  }

  /** Another process that changes the file has to wait. */
  @Test
  void aFileThatIsChangedIsLocked() throws Exception {
    Path file = folder.resolve("keys");
    KeyFile.update(
        file,
        keys -> {
          Path lock = folder.resolve(".keys.lock");
          String script = "import fcntl,sys;fcntl.lockf(open(sys.argv[1],'w'),6)";
          assertThat(exitCode("python3", "-c", script, lock.toString())).isNotZero();
          return List.of();
        });
    assertThat(KeyFile.read(file)).isEmpty();
  }

  private static int exitCode(String... command) {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFileThatIsChangedKeepsItsOwnerAndGroup() throws IOException {
    Path file = folder.resolve("keys");
    KeyFile.write(file, List.of());
    try {
      Files.setAttribute(file, "unix:uid", 12_345);
      Files.setAttribute(file, "unix:gid", 12_346);
    } catch (IOException e) {
      assertThat(Files.getAttribute(file, "unix:uid")).as("the owner").isNotEqualTo(0);
    }
    Object owner = Files.getAttribute(file, "unix:uid");
    Object group = Files.getAttribute(file, "unix:gid");
    add(file, "n");
    assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(owner);
    assertThat(Files.getAttribute(file, "unix:gid")).isEqualTo(group);
    assertThat(mode(file)).isEqualTo("rw-------");
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void keysAreOfAFormAndAllDifferent() {
    IssuedKey one = IssuedKey.next(new SecureRandom());
    assertThat(one.text()).matches("kv-[a-z0-9]{12}-[A-Za-z0-9_-]{43}").contains(one.id());
    assertThat(one.toString()).doesNotContain(one.text());
    assertThat(IssuedKey.next(new SecureRandom()).text()).isNotEqualTo(one.text());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'name':1 | name must be 1 to 64 letters",
        "'name':'a b' | name must be 1 to 64 letters",
        "'tenant':'' | tenant must be 1 to 64 letters",
        "'id':'A' | id must be 12 small letters and digits",
        "'sha256':'00' | sha256 must be 64 hexadecimal digits",
        "'requests_per_minute':0 | requests_per_minute must be an integer from 1 to",
        "'tokens_per_minute':1.5 | tokens_per_minute must be an integer from 1 to",
        "'max_concurrent':'3' | max_concurrent must be an integer from 1 to",
        "'priority':1001 | priority must be an integer from -1000 to 1000",
        "'models':[] | models must be a list of 1 to 1000 names",
        "'models':['a b'] | models must be a list of 1 to 1000 names",
        "'cache_salt':'short' | cache_salt must be 16 to 128 letters",
        "'limit':1 | has an unknown field 'limit'",
        "'name':'x','name':'y' | must be a JSON object with each field once",
      })
  void aWrongLineIsNamed(String fields, String why) throws IOException {
    StringBuilder line = new StringBuilder("{" + fields.replace('\'', '"'));
    for (String field : GOOD.substring(1, GOOD.length() - 2).split(",", -1)) {
      if (!fields.replace('\'', '"').contains(field.substring(0, field.indexOf(':') + 1))) {
        line.append(',').append(field);
      }
    }
    line.append('}');
    Path file = Files.writeString(folder.resolve("keys"), "\n" + line);
    assertThatThrownBy(() -> KeyFile.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(file + ":2: ")
        .hasMessageContaining(why);
  }

  @Test
  void keysThatDoNotFitTogetherAreRefused() throws IOException {
    Path file = folder.resolve("keys");
    refused(file, GOOD + GOOD, ":2: id and sha256 must not be those of a line before");
    String other = GOOD.replace("aaaaaaaaaaaa", "bbbbbbbbbbbb").replace("00\"", "01\"");
    refused(file, GOOD + other, ":2: name must not be that of a line before");
    String salted =
        other.replace("\"n\"", "\"o\",\"tenant\":\"n\",\"cache_salt\":\"" + "s".repeat(16) + "\"");
    refused(file, GOOD + salted, ":2: cache_salt must be the same for all keys of a tenant");
    refused(file, "[]", ":1: must be a JSON object");
    refused(file, GOOD.replace(",\"name\":\"n\"", ""), ":1: name is missing");
    Files.writeString(file, GOOD);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
    assertThatThrownBy(() -> KeyFile.read(file)).hasMessageContaining("chmod 600");
  }

  private static void refused(Path file, String text, String why) throws IOException {
    Files.writeString(file, text);
    assertThatThrownBy(() -> KeyFile.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(file + why);
  }

  @Test
  void aKeyIsFoundByWhatARequestPresents() throws IOException {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    Path file = folder.resolve("keys");
    KeyFile.write(file, List.of(key(issued, "n", KeyLimits.NONE, null)));
    KeyRing ring = new KeyRing(file, () -> 0);
    String text = issued.text();
    assertThat(ring.find(presenting("Authorization", "Bearer " + text))).isNotNull();
    assertThat(ring.find(presenting("authorization", "bearer  " + text + " "))).isNotNull();
    assertThat(ring.find(presenting("x-api-key", text))).isNotNull();
    assertThat(ring.find(presenting("api-key", text))).isNotNull();
    assertThat(ring.find(presenting("authorization", ring.ownAuthorization()))).isNotNull();
    for (String wrong : List.of("", "x", text + "x", text.substring(1), "x".repeat(10_000))) {
      assertThat(ring.find(presenting("authorization", "Bearer " + wrong))).isNull();
    }
    assertThat(ring.find(new Headers())).isNull();
    Headers both = presenting("authorization", "Bearer x").add("x-api-key", text);
    assertThat(ring.find(both)).as("the first field counts").isNull();
  }

  @Test
  void aFileThatIsReadAgainCountsAsAWhole() throws IOException {
    IssuedKey stays = IssuedKey.next(new SecureRandom());
    IssuedKey goes = IssuedKey.next(new SecureRandom());
    Path file = folder.resolve("keys");
    KeyLimits limits = new KeyLimits(List.of(), 10, 0, 0, 0);
    KeyFile.write(
        file, List.of(key(stays, "stays", limits, null), key(goes, "goes", limits, null)));
    KeyRing ring = new KeyRing(file, () -> 0);
    KeyUse use = ring.find(presenting("x-api-key", stays.text()));
    use.admit(0, 1, 1, 1);
    Files.writeString(file, GOOD + "{}\n");
    assertThatThrownBy(ring::reload).hasMessageContaining(":2: ");
    assertThat(ring.find(presenting("x-api-key", goes.text()))).isNotNull();

    KeyLimits fewer = new KeyLimits(List.of(), 5, 0, 0, 0);
    KeyFile.write(file, List.of(key(stays, "stays", fewer, null)));
    assertThat(ring.reload()).isEqualTo("0 API keys come, 1 goes, 1 stays");
    assertThat(ring.find(presenting("x-api-key", goes.text()))).isNull();
    assertThat(ring.find(presenting("x-api-key", stays.text()))).isSameAs(use);
    assertThat(use.fields(0).get("x-ratelimit-remaining-requests")).isEqualTo("4");
    assertThat(ring.summary()).isEqualTo("1 key of 1 tenant in " + file);
  }
}
