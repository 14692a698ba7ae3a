// The program: reads which command it is, runs it, and turns every error into one line and an exit code (README.md,
// "Exit codes").
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "base/log.h"
#include "commands.h"
#include "jobs/version.h"

namespace tandem::app {

int fail(const Refusal& refusal) {
  std::string line = refusal.message;
  std::ranges::replace(line, '\n', ' ');
  log::error("{}", line);
  return static_cast<int>(refusal.exit);
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw adverse("cannot write to stdout: {}; check where it is redirected to", std::strerror(errno));
}

namespace {

int failed(const std::string& message) { return fail(Refusal{ExitCode::Failed, message}); }

/// The one line on a command line that cannot be read.
int wrongUsage(const CLI::App& parser, const CLI::ParseError& error) {
  const auto used = parser.get_subcommands();
  const std::string help = used.empty() ? "tandem --help" : fmt::format("tandem {} --help", used.front()->get_name());
  return fail(refuse(ExitCode::WrongUsage, "{}; see {}", error.what(), help));
}

/// Commands of the design that come later.
bool comesLater(int count, char** words) {
  const std::string command = count > 1 ? words[1] : "";
  return command == "view";
}

int run(int count, char** words) {
  if (comesLater(count, words))
    return fail(refuse(ExitCode::WrongUsage, "'{}' is not in this version; see tandem --help", words[1]));
  CLI::App parser("Tandem renders glTF scenes with Vulkan ray tracing on two GPUs.", "tandem");
  parser.set_version_flag("--version", fmt::format("tandem {}", jobs::kVersion));
  parser.require_subcommand(0, 1);
  const Command capture = addCapture(parser);
  const Command bench = addBench(parser, {words, words + count});
  const Command devices = addDevices(parser);
  try {
    parser.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? parser.exit(error) : wrongUsage(parser, error);
  }
  if (parser.got_subcommand("capture")) return capture();
  if (parser.got_subcommand("bench")) return bench();
  if (parser.got_subcommand("devices")) return devices();
  return fail(refuse(ExitCode::WrongUsage, "a command is missing: capture, bench or devices; see tandem --help"));
}

}  // namespace
}  // namespace tandem::app

int main(int count, char** words) {
  using namespace tandem;
  // Past the limit on file sizes write() then answers EFBIG, which is handled like a full disk, instead of ending the
  // program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return app::run(count, words);
  } catch (const AdverseError& error) {
    return app::failed(error.what());
  } catch (const std::bad_alloc&) {
    return app::failed("this machine has too little memory for that; choose a smaller --size or scene");
  } catch (const std::exception& error) {
    return app::failed(fmt::format("internal error: {}", error.what()));
  }
}
