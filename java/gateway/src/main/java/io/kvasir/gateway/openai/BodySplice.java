package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Changes top-level fields of a body. All other bytes stay as they are and are not copied.
 *
 * <p>Of several changes to one field the last counts. Not thread-safe.
 */
public final class BodySplice {

  private static final String INCLUDE_USAGE = "\"include_usage\":true";

  /** Replaces the bytes from one index to another. */
  private record Edit(int from, int to, String json) {}

  private final BodyScan body;
  private final EnumMap<BodyField, String> values = new EnumMap<>(BodyField.class);
  private final Set<BodyField> removed = EnumSet.noneOf(BodyField.class);
  private boolean includeUsage;

  /**
   * Begins without changes.
   *
   * @param body the scan of the body
   */
  public BodySplice(BodyScan body) {
    this.body = body;
  }

  /**
   * Removes a field. No effect if the body lacks it.
   *
   * @param field the field
   * @return this splice
   */
  public BodySplice remove(BodyField field) {
    values.remove(field);
    removed.add(field);
    includeUsage &= field != BodyField.STREAM_OPTIONS;
    return this;
  }

  /**
   * Removes the fields of {@link BodyField#ROUTING}, which only the gateway may set.
   *
   * @param keepsTransfer whether those of {@link BodyField#TRANSFER} stay
   * @return this splice
   */
  public BodySplice removeRouting(boolean keepsTransfer) {
    for (BodyField field : BodyField.ROUTING) {
      if (!keepsTransfer || !BodyField.TRANSFER.contains(field)) {
        remove(field);
      }
    }
    return this;
  }

  /**
   * Sets a field: replaces its value in place, or adds it in front of the others.
   *
   * @param field the field
   * @param json its value as valid JSON, for example {@code 3} or {@link JsonText#quoted}
   * @return this splice
   */
  public BodySplice set(BodyField field, String json) {
    remove(field);
    removed.remove(field);
    values.put(field, json);
    return this;
  }

  /**
   * Sets {@code stream_options.include_usage} to true and keeps the other options of the stream.
   *
   * @return this splice
   */
  public BodySplice includeUsage() {
    if (body.member(BodyField.STREAM_OPTIONS) == null) {
      return set(BodyField.STREAM_OPTIONS, "{" + INCLUDE_USAGE + "}");
    }
    values.remove(BodyField.STREAM_OPTIONS);
    removed.remove(BodyField.STREAM_OPTIONS);
    includeUsage = true;
    return this;
  }

  /**
   * Builds the changed body. O(changes), whatever the body's size.
   *
   * @return heap memory that shares the scanned bytes; the caller releases it
   */
  public ByteBuf build() {
    List<ByteBuf> parts = new ArrayList<>();
    int at = body.offset();
    for (Edit edit : edits()) {
      addSlice(parts, at, edit.from);
      if (!edit.json.isEmpty()) {
        parts.add(Unpooled.wrappedBuffer(edit.json.getBytes(StandardCharsets.UTF_8)));
      }
      at = edit.to;
    }
    addSlice(parts, at, body.offset() + body.length());
    if (parts.size() == 1) {
      return parts.get(0);
    }
    CompositeByteBuf all = Unpooled.compositeBuffer(parts.size());
    return all.addComponents(true, parts);
  }

  /**
   * Builds the changed body as one array. O(bytes).
   *
   * @return a copy
   */
  public byte[] bytes() {
    ByteBuf built = build();
    byte[] copy = ByteBufUtil.getBytes(built);
    built.release();
    return copy;
  }

  private void addSlice(List<ByteBuf> parts, int from, int to) {
    if (to > from) {
      parts.add(Unpooled.wrappedBuffer(body.bytes(), from, to - from));
    }
  }

  private List<Edit> edits() {
    List<Edit> edits = new ArrayList<>();
    int removedMembers = addRemovals(edits);
    StringBuilder added = new StringBuilder();
    values.forEach(
        (field, json) -> {
          JsonMember member = body.fields().get(field);
          if (member != null) {
            edits.add(new Edit(member.value(), member.end(), json));
          } else {
            added.append(added.isEmpty() ? "\"" : ",\"").append(field.key()).append("\":");
            added.append(json);
          }
        });
    if (!added.isEmpty()) {
      int inside = body.offset();
      while (body.bytes()[inside++] != '{') {}
      boolean alone = removedMembers == body.members();
      edits.add(new Edit(inside, inside, alone ? added.toString() : added.append(',').toString()));
    }
    if (includeUsage) {
      addIncludeUsage(edits, body.fields().get(BodyField.STREAM_OPTIONS));
    }
    // A field that is added goes in front of one that is removed at the same place.
    edits.sort(Comparator.comparingInt(Edit::from).thenComparingInt(Edit::to));
    return edits;
  }

  private int addRemovals(List<Edit> edits) {
    List<JsonMember> members = new ArrayList<>();
    for (Map.Entry<BodyField, JsonMember> field : body.fields().entrySet()) {
      if (removed.contains(field.getKey())) {
        members.add(field.getValue());
      }
    }
    members.sort(Comparator.comparingInt(JsonMember::start));
    int removedTo = body.offset();
    for (JsonMember member : members) {
      int[] cut = member.cut(body.bytes(), removedTo);
      edits.add(new Edit(cut[0], cut[1], ""));
      removedTo = cut[1];
    }
    return members.size();
  }

  private void addIncludeUsage(List<Edit> edits, @Nullable JsonMember options) {
    JsonMember usage = body.includeUsage();
    if (usage != null) {
      edits.add(new Edit(usage.value(), usage.end(), "true"));
    } else if (options != null) {
      int inside = options.value() + 1;
      int next = inside;
      while (JsonCursor.isWhitespace(body.bytes()[next])) {
        next++;
      }
      boolean alone = body.bytes()[next] == '}';
      edits.add(new Edit(inside, inside, alone ? INCLUDE_USAGE : INCLUDE_USAGE + ","));
    }
  }
}
