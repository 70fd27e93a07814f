package io.kvasir.fleet.wire;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The fields of events that are read, by their names in map events. */
enum WireField {
  BLOCK_HASHES,
  PARENT_BLOCK_HASH,
  TOKEN_IDS,
  BLOCK_SIZE,
  LORA_ID,
  MEDIUM,
  LORA_NAME,
  EXTRA_KEYS,
  CACHE_SALT,
  GROUP_IDX,
  KV_CACHE_SPEC_KIND,
  KV_CACHE_SPEC_SLIDING_WINDOW,
  MM_KEYS,
  LOCALITY,
  OWNERSHIP,
  ORIGIN;

  private static final WireField[] ALL = values();
  private static final byte[][] NAMES = names();

  private static byte[][] names() {
    byte[][] names = new byte[ALL.length][];
    for (int i = 0; i < names.length; i++) {
      names[i] = ALL[i].name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
    }
    return names;
  }

  /** The field that the reader's last text names. */
  static @Nullable WireField named(MessagePackReader reader) {
    for (int i = 0; i < NAMES.length; i++) {
      if (reader.textIs(NAMES[i])) {
        return ALL[i];
      }
    }
    return null;
  }

  /** Whether removed blocks have this field too. */
  boolean ofRemoved() {
    return switch (this) {
      case BLOCK_HASHES, MEDIUM, GROUP_IDX, LOCALITY, OWNERSHIP -> true;
      default -> false;
    };
  }
}
