// What Tandem says to people while it works: one line a message, on stderr. Results go to stdout, never through here.
// Thread-safe. Warnings that can repeat (one per vertex, per texture, ...) are counted by whoever finds them and said
// once.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace tandem::log {

enum class Level { Debug, Info, Warning, Error };

/// Messages below `level` are not shown. Default: Info.
void setLevel(Level level);
/// Whether messages of this level are shown: for what costs something to find out.
bool shows(Level level);
void write(Level level, std::string_view message);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tandem::log
