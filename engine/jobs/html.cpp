#include "jobs/html.h"

#include "base/check.h"
#include "jobs/bench_document.h"

namespace tandem::jobs {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if ((code < 0x20 && letter != '\n' && letter != '\t') || code == 0x7f) {
          result += "\xef\xbf\xbd";
        } else {
          result += letter;
        }
    }
  }
  return result;
}

std::string element(std::string_view tag, std::string_view text, std::string_view attributes) {
  return fmt::format("<{}{}{}>{}</{}>", tag, attributes.empty() ? "" : " ", attributes, escaped(text), tag);
}

HtmlTable::HtmlTable(std::string caption, std::vector<Column> columns)
    : caption_(std::move(caption)), columns_(std::move(columns)) {}

void HtmlTable::row(const std::vector<std::string>& cells) {
  TANDEM_CHECK(cells.size() == columns_.size(), "{} cells for {} columns of '{}'", cells.size(), columns_.size(),
               caption_);
  body_ += "<tr>";
  for (size_t column = 0; column < cells.size(); ++column) {
    const bool missing = cells[column] == kNotAvailable;
    const char* look =
        columns_[column].text ? (missing ? "class=\"text na\"" : "class=\"text\"") : (missing ? "class=\"na\"" : "");
    body_ += column == 0 ? element("th", cells[column], "scope=\"row\"") : element("td", cells[column], look);
  }
  body_ += "</tr>\n";
  ++rows_;
}

std::string HtmlTable::html() const {
  // The heading stands outside of what scrolls. tabindex: what scrolls can be reached by keyboard too.
  std::string html = element("h3", caption_) +
                     fmt::format("\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n",
                                 escaped(caption_)) +
                     "<thead><tr>";
  for (const Column& column : columns_)
    html += element("th", column.head, column.text ? "scope=\"col\" class=\"text\"" : "scope=\"col\"");
  return html + "</tr></thead>\n<tbody>\n" + body_ + "</tbody></table></div>\n";
}

}  // namespace tandem::jobs
