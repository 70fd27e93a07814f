package io.kvasir.simulator.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntFunction;

/** Pieces of an HTML page. */
final class Html {

  /** Characters of a cell that stays on one line. */
  private static final int MOST_UNBROKEN = 24;

  private Html() {}

  /**
   * A whole page in the style of reports.
   *
   * @param title its title and first heading, as text
   * @param content what follows the heading, as elements
   */
  static String page(String title, String content) {
    return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
        + escape(title)
        + " - Kvasir</title>\n<style>\n"
        + style()
        + "</style></head>\n<body><main>\n<h1>"
        + escape(title)
        + "</h1>\n"
        + content
        + "</main></body></html>\n";
  }

  private static String style() {
    try (InputStream in = Html.class.getResourceAsStream("report.css")) {
      if (in == null) {
        throw new IllegalStateException("report.css is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The names of a chart's series, each behind the sample that belongs to its number. */
  static String legend(List<String> names, IntFunction<String> sample) {
    StringBuilder out = new StringBuilder("<ul class=\"legend\">");
    for (int i = 0; i < names.size(); i++) {
      out.append("<li>").append(sample.apply(i)).append(escape(names.get(i))).append("</li>");
    }
    return out.append("</ul>\n").toString();
  }

  /** A paragraph that stands out. */
  static String banner(String text) {
    return "<p class=\"banner\">" + escape(text) + "</p>\n";
  }

  /** What a page rests on: step times, the command that makes it, and the build. */
  static String basis(String times, ReportBasis basis) {
    return "<p class=\"note\">"
        + escape(times)
        + "</p>\n<p class=\"note\">Made by <code>"
        + command(basis.command())
        + "</code> with Kvasir "
        + escape(basis.build())
        + ".</p>\n";
  }

  /** A name that may break after the marks between its words, but not before a percent sign. */
  private static String breakable(String name) {
    return escape(name).replaceAll("(?<=[_/@.,])(?=[^ ])", "<wbr>").replace(" %", "&nbsp;%");
  }

  /** A command that breaks between words, folders and items, and not within an option's name. */
  private static String command(String text) {
    return escape(text)
        .replaceAll("(?<=[/,])(?=[^ ])", "<wbr>")
        .replaceAll("(?<= )--[a-z-]+", "<span class=\"option\">$0</span>");
  }

  static String paragraph(String text) {
    return "<p>" + escape(text) + "</p>\n";
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** A table that scrolls by itself where the page is narrow. */
  static String table(String caption, List<String> heads, List<String> rows) {
    StringBuilder out = new StringBuilder();
    String name = escape(caption);
    out.append("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"")
        .append(name)
        .append("\"><table><caption>")
        .append(name)
        .append("</caption>\n<thead><tr>");
    for (String head : heads) {
      out.append("<th scope=\"col\">").append(breakable(head)).append("</th>");
    }
    out.append("</tr></thead>\n<tbody>\n");
    rows.forEach(out::append);
    return out.append("</tbody></table></div>\n").toString();
  }

  /** A row whose cells are elements. */
  static String row(String head, List<String> cells) {
    return "<tr><th scope=\"row\">"
        + breakable(head)
        + "</th>"
        + String.join("", cells)
        + "</tr>\n";
  }

  /** A cell of text, which may break only if it is long. */
  static String cell(String text) {
    String type = text.length() > MOST_UNBROKEN ? " class=\"long\"" : "";
    return "<td" + type + ">" + escape(text) + "</td>";
  }

  /** A figure of the JSON report within text, at a path of that document. */
  static String span(String path, String text) {
    return "<span data-json=\"" + path + "\"><span>" + escape(text) + "</span></span>";
  }

  /** A cell with a figure of the JSON report, at a path of that document. */
  static String figure(String path, String text, String mark) {
    String marked = mark.isEmpty() ? "" : " <span class=\"" + mark + "\">" + mark + "</span>";
    return "<td data-json=\"" + path + "\"><span>" + escape(text) + "</span>" + marked + "</td>";
  }
}
