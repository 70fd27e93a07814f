package io.kvasir.simulator.report;

import java.util.List;

/** Pieces of an HTML page. */
final class Html {

  private Html() {}

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
      out.append("<th scope=\"col\">").append(escape(head)).append("</th>");
    }
    out.append("</tr></thead>\n<tbody>\n");
    rows.forEach(out::append);
    return out.append("</tbody></table></div>\n").toString();
  }

  /** A row whose cells are elements. */
  static String row(String head, List<String> cells) {
    return "<tr><th scope=\"row\">" + escape(head) + "</th>" + String.join("", cells) + "</tr>\n";
  }

  static String cell(String text) {
    return "<td>" + escape(text) + "</td>";
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
