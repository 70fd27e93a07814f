package io.kvasir.fleet.wire;

import io.kvasir.event.CacheGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** Writes what a decoder passes as lines of text, defaults left out. */
final class Transcript implements WireListener {

  final List<String> lines = new ArrayList<>();
  private final boolean digests;

  /** With or without the digests of media, adapters' ids and other content. */
  Transcript(boolean digests) {
    this.digests = digests;
  }

  static List<String> of(byte[] payload, boolean digests) {
    Transcript transcript = new Transcript(digests);
    new WireDecoder().decode(payload, 0, payload.length, transcript);
    return transcript.lines;
  }

  @Override
  public void onBatch(double timestamp, int dpRank) {
    lines.add(batch(timestamp, dpRank));
  }

  static String batch(double timestamp, int dpRank) {
    return String.format(Locale.ROOT, "batch %.1f rank %d", timestamp, dpRank);
  }

  @Override
  public void onStored(WireBlocks blocks) {
    StringBuilder line = new StringBuilder("stored").append(hashes(blocks));
    line.append(blocks.root() ? " root" : " after " + Long.toHexString(blocks.parent()));
    line.append(" size=").append(blocks.blockSize());
    StringJoiner tokens = new StringJoiner(",", " tokens=", "");
    for (int i = 0; i < blocks.tokenCount(); i++) {
      tokens.add(Integer.toString(blocks.tokens()[i]));
    }
    line.append(tokens).append(place(blocks));
    if (blocks.origin() != WireBlocks.Origin.UNKNOWN) {
      line.append(" origin=").append(blocks.origin());
    }
    if (!blocks.kind().isEmpty()) {
      line.append(" kind=").append(blocks.kind());
    }
    line.append(blocks.groupKind() == CacheGroup.Kind.FULL ? "" : " windowed");
    if (!blocks.loraName().isEmpty()) {
      line.append(" lora=").append(blocks.loraName());
    }
    if (blocks.hasLoraId()) {
      line.append(digests ? " loraId=" + Long.toHexString(blocks.loraId()) : " loraId");
    }
    if (!blocks.salt().isEmpty()) {
      line.append(" salt=").append(blocks.salt());
    }
    StringJoiner marks = new StringJoiner(",", " marked=", "").setEmptyValue("");
    for (int i = 0; i < blocks.markCount(); i++) {
      String digest = digests ? ":" + Long.toHexString(blocks.markDigest(i)) : "";
      marks.add(blocks.markedBlock(i) + digest);
    }
    lines.add(line.append(marks).toString());
  }

  @Override
  public void onRemoved(WireBlocks blocks) {
    lines.add("removed" + hashes(blocks) + place(blocks));
  }

  private static String hashes(WireBlocks blocks) {
    StringBuilder hashes = new StringBuilder();
    for (int i = 0; i < blocks.blockCount(); i++) {
      hashes.append(' ').append(Long.toHexString(blocks.hashes()[i]));
    }
    return hashes.toString();
  }

  private String place(WireBlocks blocks) {
    String medium =
        blocks.medium() == WireBlocks.GPU
            ? ""
            : digests ? " medium=" + Long.toHexString(blocks.medium()) : " elsewhere";
    String owner =
        blocks.ownership() == 0
            ? ""
            : digests ? " owner=" + Long.toHexString(blocks.ownership()) : " owned";
    String remote = blocks.remote() ? " remote" : "";
    return medium + owner + remote + (blocks.group() < 0 ? "" : " group=" + blocks.group());
  }

  @Override
  public void onCleared() {
    lines.add("cleared");
  }

  @Override
  public void onSkipped(SkipCause cause) {
    lines.add("skipped " + cause);
  }
}
