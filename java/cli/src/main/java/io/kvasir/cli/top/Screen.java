package io.kvasir.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.terminal.PlainText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What {@code kvasir top} shows.
 *
 * <p>Not to be changed.
 *
 * @param url where the gateway was asked
 * @param look its last answers
 * @param rates what changed before them
 * @param trouble why it does not answer now; empty if it does
 */
public record Screen(String url, Look look, Rates rates, String trouble) {

  private static final int MOST_PROBLEMS = 3;
  private static final int BAR_SHARE = 5;
  private static final int LEAST_BAR = 8;
  private static final String LEGEND = "KV #used =cached";
  private static final int CLOCK_START = 11;
  private static final int CLOCK_END = 19;

  private static final List<Table.Column> DECISION_COLUMNS =
      List.of(
          new Table.Column("TIME", 8, false, 0),
          new Table.Column("LAST DECISIONS", 0, false, 0),
          new Table.Column("REASON", 10, false, 2),
          new Table.Column("MATCHED", 13, true, 1),
          new Table.Column("EXPECTED", 8, true, 4),
          new Table.Column("SEEN", 8, true, 0),
          new Table.Column("OUTCOME", 11, false, 3),
          new Table.Column("REQUEST", 12, false, 5));

  /**
   * {@return the lines of the screen, in printable ASCII}
   *
   * @param columns the longest line
   * @param rows the most lines
   */
  public List<String> lines(int columns, int rows) {
    List<String> lines = new ArrayList<>(heading(columns));
    lines.addAll(problems());
    lines.add("");
    List<RankLine> ranks = RankLine.all(look, rates);
    int room = Math.max(1, rows - lines.size() - 1);
    int shown = ranks.size() <= room ? ranks.size() : room - 1;
    Stream<RankLine> first =
        shown == ranks.size()
            ? ranks.stream()
            : ranks.stream().sorted(RankLine.BUSIEST).limit(shown);
    lines.addAll(table(first.toList(), ranks, columns));
    if (ranks.isEmpty()) {
      lines.add("No worker serves a model.");
    } else if (shown < ranks.size()) {
      lines.add(ranks.size() - shown + " more, less busy");
    }
    int left = rows - lines.size() - 2;
    if (left > 0 && !look.decisions().isEmpty()) {
      lines.add("");
      lines.addAll(decisions(left, columns));
    }
    return lines.stream()
        .limit(rows)
        .map(PlainText::of)
        .map(line -> line.length() > columns ? line.substring(0, columns) : line)
        .toList();
  }

  private List<String> heading(int columns) {
    List<String> lines = new ArrayList<>();
    long up = (long) look.metrics().sum(Metrics.UPTIME);
    lines.add(url + ", up " + Amounts.time(up));
    if (!trouble.isEmpty()) {
      lines.addAll(wrapped(List.of("NO ANSWER " + trouble, "what follows is older"), columns));
    }
    Set<String> models = new LinkedHashSet<>();
    for (JsonNode worker : look.ranks()) {
      models.add(worker.path("model").asText() + ", routed by " + worker.path("router").asText());
    }
    if (!models.isEmpty()) {
      lines.add(String.join("; ", models));
    }
    long taking = 0;
    for (JsonNode worker : look.workers()) {
      taking += worker.path("takes_requests").asBoolean() ? 1 : 0;
    }
    List<String> everywhere = List.of();
    lines.addAll(
        wrapped(
            List.of(
                taking + " of " + look.workers().size() + " workers take requests",
                Amounts.rate(rates.perSecond(Metrics.REQUESTS, everywhere)) + " requests/s",
                Amounts.count((long) look.metrics().sum(Metrics.RUNNING)) + " in service",
                Amounts.count((long) look.metrics().sum(Metrics.WAITING)) + " waiting",
                "first token p50 " + Amounts.ms(rates.firstTokenMs(0.5)),
                "p95 " + Amounts.ms(rates.firstTokenMs(0.95)),
                Amounts.share(rates.hits(everywhere)) + " of prompt tokens cached"),
            columns));
    return lines;
  }

  /** Parts separated by commas, with new lines between parts. */
  private static List<String> wrapped(List<String> parts, int columns) {
    List<String> lines = new ArrayList<>();
    String line = "";
    for (String part : parts) {
      String longer = line.isEmpty() ? part : line + ", " + part;
      if (longer.length() >= columns && !line.isEmpty()) {
        lines.add(line + ",");
        longer = part;
      }
      line = longer;
    }
    lines.add(line);
    return lines;
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    for (JsonNode worker : look.workers()) {
      String id = worker.path("worker_id").asText();
      worker.path("problems").forEach(each -> problems.add("! " + id + ": " + each.asText()));
    }
    return problems.size() <= MOST_PROBLEMS ? problems : problems.subList(0, MOST_PROBLEMS);
  }

  private static List<String> table(List<RankLine> shown, List<RankLine> all, int columns) {
    int bar = Math.max(LEAST_BAR, columns / BAR_SHARE);
    List<Table.Column> titles =
        List.of(
            new Table.Column("RANK", 0, false, 0),
            new Table.Column("STATE", 12, false, 0),
            new Table.Column(bar < LEGEND.length() ? "KV #used" : LEGEND, bar, false, 1),
            new Table.Column("REQS", 5, true, 2),
            new Table.Column("QUEUE", 7, true, 5),
            new Table.Column("REQ/S", 6, true, 4),
            new Table.Column("HITS", 5, true, 3));
    double most =
        all.stream().mapToDouble(each -> (double) each.active() + each.cached()).max().orElse(0);
    List<List<String>> rows = new ArrayList<>();
    for (RankLine rank : shown) {
      rows.add(
          List.of(
              rank.name(),
              rank.state(),
              bar(rank, most, bar),
              Amounts.count(rank.requests()),
              rank.queuedTokens() < 0 ? Amounts.UNKNOWN : Amounts.count(rank.queuedTokens()),
              Amounts.rate(rank.perSecond()),
              Amounts.share(rank.hits())));
    }
    return Table.lines(titles, rows, columns);
  }

  /** Where the number of blocks is unknown, the bar's end is the most that any rank has. */
  private static String bar(RankLine rank, double most, int width) {
    int room = width - 2;
    double held = (double) rank.active() + rank.cached();
    double size = Math.max(1, Math.max(held, rank.size() > 0 ? rank.size() : most));
    int used = (int) Math.ceil((double) rank.active() * room / size);
    int filled = Math.max(used, (int) Math.round(held * room / size));
    return "[" + "#".repeat(used) + "=".repeat(filled - used) + ".".repeat(room - filled) + "]";
  }

  private List<String> decisions(int most, int columns) {
    List<List<String>> rows = new ArrayList<>();
    for (JsonNode each : look.decisions()) {
      if (rows.size() == most) {
        break;
      }
      rows.add(decision(each));
    }
    return Table.lines(DECISION_COLUMNS, rows, columns);
  }

  private static List<String> decision(JsonNode each) {
    String time = each.path("time").asText();
    String rank = each.path("dp_rank").asText();
    String leg = each.path("leg").asText("whole");
    String prompt = each.has("prompt_tokens") ? "/" + count(each, "prompt_tokens") : "";
    String status = each.has("status") ? each.path("status").asText() : "in progress";
    return List.of(
        time.length() < CLOCK_END ? time : time.substring(CLOCK_START, CLOCK_END),
        each.path("worker_id").asText()
            + (rank.equals("any") ? "" : " " + rank)
            + (leg.equals("whole") ? "" : " " + leg),
        each.path("reason").asText(),
        count(each, "matched_tokens") + prompt,
        Amounts.ms(each.path("expected_first_token_ms").asDouble(Double.NaN)),
        Amounts.ms(each.path("first_token_ms").asDouble(Double.NaN)),
        each.path("failure").asText(status).replace('_', ' '),
        each.path("request_id").asText());
  }

  private static String count(JsonNode of, String field) {
    return Amounts.count(of.path(field).asLong());
  }
}
