package io.kvasir.tokens.chat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The images, sounds, videos and files in the messages of a request, whose tokens engines alone
 * know. Immutable.
 */
public final class OtherParts {

  /** The kinds of parts, by the type that requests name, as vLLM's templates name them. */
  private static final Map<String, String> KINDS =
      Map.of(
          "image_url", "image",
          "input_image", "image",
          "image", "image",
          "input_audio", "audio",
          "audio_url", "audio",
          "video_url", "video",
          "file", "file",
          "input_file", "file",
          "document", "file");

  private static final List<String> WITH_PARTS = List.of("messages", "input", "content", "output");

  private final Map<String, Object> request;
  private final int count;
  private final long hash;

  /** A part in the place where a template has its own mark for it. No JSON makes one. */
  record Mark(String kind) {}

  private OtherParts(Map<String, Object> request, int count, long hash) {
    this.request = request;
    this.count = count;
    this.hash = hash;
  }

  /**
   * Finds the parts of a request. O(bytes).
   *
   * @param request its fields
   * @return what it has; null if it has text only
   */
  public static @Nullable OtherParts of(Map<String, Object> request) {
    Finder finder = new Finder();
    finder.copy(request);
    return finder.count == 0 ? null : new OtherParts(request, finder.count, finder.hash);
  }

  /** {@return how many there are, at least 1} */
  public int count() {
    return count;
  }

  /** {@return a number that differs for other contents} */
  public long hash() {
    return hash;
  }

  /** {@return the request with marks of the parts, which templates that read parts replace} */
  public Map<String, Object> marked() {
    return replaced(null);
  }

  /**
   * {@return the request with a text in place of each part}
   *
   * @param text the text
   */
  public Map<String, Object> withText(String text) {
    return replaced(text);
  }

  @SuppressWarnings("unchecked") // a copy has the form of what it is made of
  private Map<String, Object> replaced(@Nullable String text) {
    Finder finder = new Finder();
    finder.text = text;
    return (Map<String, Object>) finder.copy(request);
  }

  /** Copies the part of a request that has parts. */
  private static final class Finder {
    private @Nullable String text;
    private int count;
    private long hash;

    Object copy(Object value) {
      if (value instanceof List<?> list) {
        List<Object> copied = new ArrayList<>(list.size());
        for (Object each : list) {
          copied.add(each == null ? null : copy(each));
        }
        return copied;
      }
      if (!(value instanceof Map<?, ?> map)) {
        return value;
      }
      String kind = map.get("type") instanceof String type ? KINDS.get(type) : null;
      if (kind != null) {
        count++;
        hash = 31 * hash + map.toString().hashCode();
        return text == null ? new Mark(kind) : part(text);
      }
      Map<String, Object> copied = new LinkedHashMap<>();
      map.forEach(
          (key, member) -> {
            boolean goesOn = member != null && WITH_PARTS.contains(key);
            copied.put((String) key, goesOn ? copy(member) : member);
          });
      return copied;
    }

    private static Map<String, Object> part(String text) {
      Map<String, Object> part = new LinkedHashMap<>();
      part.put("type", "text");
      part.put("text", text);
      return part;
    }
  }
}
