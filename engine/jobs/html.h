// Text and tables of a page that holds all it needs: no script, no request. Well-formed as XML too: every tag is
// closed. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::jobs {

/// For text and for attributes in double quotes. Control characters, which no page may hold, become U+FFFD. UTF-8.
std::string escaped(std::string_view text);

/// `<tag>text</tag>`, the text escaped. `attributes`: markup, as `class="x"`.
std::string element(std::string_view tag, std::string_view text, std::string_view attributes = {});

/// A table under a heading, that scrolls inside of its own box where the page is narrow. The first column names its
/// row.
class HtmlTable {
 public:
  struct Column {
    std::string head;
    bool text = false;  // else figures: on the right, digits below digits
  };
  HtmlTable(std::string caption, std::vector<Column> columns);
  /// One cell a column; escaped here.
  void row(const std::vector<std::string>& cells);
  bool empty() const { return rows_ == 0; }
  std::string html() const;

 private:
  std::string caption_;
  std::vector<Column> columns_;
  std::string body_;
  size_t rows_ = 0;
};

}  // namespace tandem::jobs
