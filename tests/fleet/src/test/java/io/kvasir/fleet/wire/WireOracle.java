package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.WireValues.wrongType;

import io.kvasir.fleet.wire.WireValues.Refusal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The rules of the decoder over a tree of values, slow and plain. Writes {@link Transcript}s. */
final class WireOracle {

  private final byte[] payload;
  private final List<String> lines = new ArrayList<>();

  private WireOracle(byte[] payload) {
    this.payload = payload;
  }

  static List<String> of(byte[] payload) {
    WireOracle oracle = new WireOracle(payload);
    try {
      oracle.batch(WireTree.parse(payload));
    } catch (Refusal e) {
      oracle.lines.add("skipped " + e.skipCause);
    }
    return oracle.lines;
  }

  private void batch(WireTree tree) throws Refusal {
    WireTree.Node root = tree.root();
    if (root == null) {
      throw new Refusal(SkipCause.MALFORMED);
    }
    double timestamp = Double.NaN;
    int rank = -1;
    WireTree.Node events = null;
    List<WireTree.Node> values = root.children;
    if (root.isArray() && root.count >= 2) {
      timestamp = values.isEmpty() ? timestamp : timestamp(values.get(0), timestamp);
      events = values.size() < 2 ? null : events(values.get(1));
      rank = values.size() < 3 ? rank : rank(values.get(2), rank);
    } else if (root.isMap()) {
      for (int i = 0; i + 1 < values.size(); i += 2) {
        WireTree.Node value = values.get(i + 1);
        String key = values.get(i).value instanceof String text ? text : "";
        switch (key) {
          case "ts" -> timestamp = timestamp(value, timestamp);
          case "events" -> events = events(value);
          case "data_parallel_rank", "attn_dp_rank" -> rank = rank(value, rank);
          default -> {}
        }
      }
    }
    if (events == null) {
      boolean cut = (root.isMap() || (root.isArray() && root.count >= 2)) && !root.complete;
      throw new Refusal(cut ? SkipCause.MALFORMED : SkipCause.WRONG_TYPE);
    }
    lines.add(Transcript.batch(timestamp, rank));
    for (WireTree.Node event : events.children) {
      if (event.complete) {
        try {
          event(event);
        } catch (Refusal e) {
          lines.add("skipped " + e.skipCause);
        }
      }
    }
    if (!tree.whole()) {
      lines.add("skipped MALFORMED");
    }
  }

  private static double timestamp(WireTree.Node node, double before) {
    if (node.value instanceof Double number) {
      return number;
    }
    if (node.value instanceof BigInteger number && number.bitLength() < 64) {
      return number.doubleValue();
    }
    return before;
  }

  private static int rank(WireTree.Node node, int before) {
    return node.value instanceof BigInteger number
            && number.signum() >= 0
            && number.bitLength() < 32
        ? number.intValueExact()
        : before;
  }

  private static WireTree.Node events(WireTree.Node node) throws Refusal {
    if (!node.isArray()) {
      throw wrongType();
    }
    if (node.count > WireDecoder.MAX_EVENTS) {
      throw new Refusal(SkipCause.TOO_LARGE);
    }
    return node;
  }

  private void event(WireTree.Node event) throws Refusal {
    if ((!event.isArray() && !event.isMap()) || event.count == 0) {
      throw wrongType();
    }
    WireTree.Node tag = event.isArray() ? event.children.get(0) : null;
    for (int i = 0; event.isMap() && tag == null && i < event.children.size(); i += 2) {
      if ("type".equals(event.children.get(i).value)) {
        tag = event.children.get(i + 1);
      }
    }
    if (tag == null || !(tag.value instanceof String name)) {
      throw wrongType();
    }
    EventFields fields = new EventFields(payload);
    switch (name) {
      case "BlockStored" -> {
        fields.readStored(event);
        lines.add(fields.stored());
      }
      case "BlockRemoved" -> {
        fields.readRemoved(event);
        lines.add(fields.removed());
      }
      case "AllBlocksCleared" -> {
        fields.readCleared(event);
        lines.add("cleared");
      }
      default -> throw new Refusal(SkipCause.UNKNOWN_TAG);
    }
  }
}
