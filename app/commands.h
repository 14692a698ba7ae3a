// The commands. Each adds itself to the parser, and what it returns runs once the command line is read.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"

namespace tandem::app {

/// Runs the command and returns the program's exit code. Throws what jobs throw.
using Command = std::function<int()>;

/// Errors are one line on stderr; returns their exit code.
int fail(const Refusal& refusal);

/// Results, to stdout. Throws AdverseError where they do not arrive there.
void print(const std::string& text);

Command addCapture(CLI::App& parser);
/// `commandLine`: all words, for the report.
Command addBench(CLI::App& parser, std::vector<std::string> commandLine);
Command addDevices(CLI::App& parser);

}  // namespace tandem::app
