// Help, version, and every command line that cannot be meant: exit code 2, one line, and nothing on disk.
#include <regex>

#include "cli/run_program.h"

namespace tandem::cli {
namespace {

using Usage = Cli;

TEST_F(Usage, VersionIsTheProjects) {
  const ProgramResult result = run({"--version"});
  EXPECT_EQ(result.exit, 0);
  std::ifstream file(TANDEM_SOURCE_DIR "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(project\(tandem VERSION ([0-9.]+))")));
  EXPECT_EQ(result.out, "tandem " + match[1].str() + "\n");
}

TEST_F(Usage, HelpListsTheCommandsThatWork) {
  const ProgramResult result = run({"--help"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(says(result.out, "capture") && says(result.out, "bench") && says(result.out, "devices"));
  EXPECT_FALSE(says(result.out, "view"));
}

TEST_F(Usage, HelpOfCaptureNamesEveryOption) {
  const ProgramResult result = run({"capture", "--help"});
  EXPECT_EQ(result.exit, 0);
  for (const char* option :
       {"--output",      "--overwrite", "--resume",      "--json",        "--verbose",  "--quiet",         "--size",
        "--samples",     "--bounces",   "--seed",        "--environment", "--exposure", "--tonemap",       "--aov",
        "--compression", "--camera",    "--eye",         "--target",      "--up",       "--yfov",          "--frames",
        "--fps",         "--time",      "--motion-blur", "--shutter",     "--gpus",     "--simulate-dual", "--mode",
        "--topology",    "--link",      "--tracer",      "--validation",  "--scene",    "--allow-external"}) {
    EXPECT_TRUE(says(result.out, option)) << option;
  }
}

TEST_F(Usage, CommandsThatAreNotThere) {
  expectError(run({}), 2, {"command is missing", "tandem --help"});
  expectError(run({"view", "a.glb"}), 2, {"'view' is not in this version"});
  expectError(run({"paint"}), 2, {"paint", "tandem --help"});
}

TEST_F(Usage, TheParsersErrorsSayWhereHelpIs) {
  expectError(run({"capture", "--bogus"}), 2, {"--bogus", "tandem capture --help"});
  expectError(run({"capture", "-o"}), 2, {"--output", "tandem capture --help"});
  expectError(run({"capture", "a.glb", "b.glb", "-o", "a.exr"}), 2, {"b.glb", "tandem capture --help"});
  expectError(run({"devices", "--all"}), 2, {"--all", "tandem devices --help"});
}

struct WrongValue {
  std::vector<std::string> arguments;
  std::vector<std::string> words;
};

TEST_F(Usage, ValuesThatCannotBeMeant) {
  const std::vector<WrongValue> cases = {
      {{"--size", "0x36"}, {"--size 0x36", "at least 1"}},
      {{"--size", "64x0"}, {"--size 64x0", "at least 1"}},
      {{"--size", "64"}, {"--size 64", "WIDTHxHEIGHT"}},
      {{"--size", "-64x36"}, {"-64x36"}},
      {{"--size", "99999999999x1"}, {"--size", "WIDTHxHEIGHT"}},
      {{"--size", "64x36px"}, {"--size 64x36px"}},
      {{"--samples", "0"}, {"--samples 0", "from 1"}},
      {{"--samples", "1.5"}, {"--samples 1.5", "whole number"}},
      {{"--samples", ""}, {"--samples", "empty"}},
      {{"--bounces", "-1"}, {"--bounces -1", "from 0"}},
      {{"--seed", "4294967296"}, {"--seed 4294967296"}},
      {{"--mode", "dual"}, {"--mode dual", "auto, single, pipelined, sfr, afr"}},
      {{"--mode", "sfr"}, {"--mode sfr needs two GPUs", "--simulate-dual"}},
      {{"--mode", "afr"}, {"--mode afr needs two GPUs", "--simulate-dual"}},
      {{"--topology", "ring"}, {"--topology ring", "independent"}},
      {{"--topology", "group"}, {"--topology group", "--simulate-dual"}},
      {{"--topology", "single", "--mode", "pipelined"}, {"--topology single", "--mode pipelined", "contradict"}},
      {{"--link", "wire"}, {"--link wire", "peer, cuda, host-import, host-copy"}},
      {{"--link-gbps", "0"}, {"--link-gbps 0", "more than 0"}},
      {{"--link-gbps", "nan"}, {"--link-gbps nan"}},
      {{"--rows-share", "0,0"}, {"--rows-share 0,0", "rows"}},
      {{"--rows-share", "60,-40"}, {"--rows-share 60,-40", "60,40"}},
      {{"--mode", "sfr", "--simulate-dual", "--rows-share", "1,2,3"}, {"--rows-share has 3", "2 GPUs"}},
      {{"--tracer", "embree"}, {"--tracer embree", "auto, compute, rt"}},
      {{"--tracer", "rt", "--topology", "group", "--simulate-dual"},
       {"--tracer rt does not work in a linked group", "--topology independent"}},
      {{"--tonemap", "filmic"}, {"--tonemap filmic", "aces, neutral, none"}},
      {{"--compression", "zips"}, {"--compression zips", "zip, piz, none"}},
      {{"--aov", "normal,colour"}, {"--aov colour", "albedo, normal, depth, motion"}},
      {{"--exposure", "bright"}, {"--exposure bright", "auto"}},
      {{"--exposure", "nan"}, {"--exposure nan"}},
      {{"--motion-blur", "accumulate"}, {"--motion-blur accumulate is not in this version"}},
      {{"--shutter", "400"}, {"--shutter 400", "360"}},
      {{"--shutter", "-1"}, {"--shutter -1"}},
      {{"--fps", "0"}, {"--fps 0", "24000/1001"}},
      {{"--fps", "24/0"}, {"--fps 24/0"}},
      {{"--time", "1s"}, {"--time 1s"}},
      {{"--eye", "1,2"}, {"--eye 1,2", "X,Y,Z"}},
      {{"--eye", "1,2,inf", "--target", "0,0,0"}, {"--eye 1,2,inf"}},
      {{"--eye", "1,2,3"}, {"--target"}},
      {{"--up", "0,0,1"}, {"--up", "--eye"}},
      {{"--yfov", "180"}, {"--yfov 180", "between 0 and 180"}},
      {{"--yfov", "0"}, {"--yfov 0", "between 0 and 180"}},
      {{"--yfov", "-45"}, {"--yfov -45", "between 0 and 180"}},
      {{"--yfov", "NaN"}, {"--yfov NaN", "not a number"}},
      {{"--yfov", "inf"}, {"--yfov inf", "not a number"}},
      {{"--eye", "1,2,3", "--target", "1,2,3"}, {"--eye and --target are the same point"}},
      {{"--eye", "0,5,0", "--target", "0,0,0"}, {"--up 0,1,0", "along the view"}},
      {{"--eye", "1,2,3", "--target", "3,4,5", "--up", "-2,-2,-2"}, {"--up -2,-2,-2", "along the view"}},
      {{"--eye", "1,2,3", "--target", "3,4,5", "--up", "0,0,0"}, {"--up 0,0,0"}},
      {{"--scene", "0"}, {"--scene", "builtin:cornell"}},
      {{"--allow-external"}, {"--allow-external", "builtin:cornell"}},
      {{"--camera", "nobody"}, {"--camera 'nobody'", "'camera'"}},
      {{"--frames", "3-1"}, {"--frames 3-1", "1-3"}},
      {{"--frames", "1:100"}, {"--frames 1:100", "written 1-100 here"}},
      {{"--frames", "1..100"}, {"--frames 1..100", "written 1-100 here"}},
      {{"--frames", "1-100:5"}, {"--frames 1-100:5", "written 1-100x5 here"}},
      {{"--frames", "1-9x0"}, {"--frames 1-9x0", "step of 0", "1-9"}},
      {{"--frames", "1-1000000000"}, {"--frames 1-1000000000", "99999999"}},
      {{"--frames", "0-99999999"}, {"--frames 0-99999999", "more than 1000000 frames", "several runs"}},
      {{"--frames", "1-3"}, {"a.exr", "####"}},
      {{"--overwrite", "--resume"}, {"--overwrite and --resume"}},
      {{"-v", "-q"}, {"-v and -q"}},
      {{"--gpus", "nothing like it"}, {"--gpus nothing like it", "no such GPU"}},
      {{"--gpus", "0,0"}, {"--gpus 0,0", "twice"}},
      {{"-o", "a.exr"}, {"a.exr", "twice"}},
      {{"-o", "b.jpg"}, {"b.jpg", ".exr", ".png"}},
      {{"-o", "b.####.%04d.png"}, {"b.####.%04d.png", "more than one"}},
  };
  for (const WrongValue& wrong : cases) {
    std::vector<std::string> arguments{"capture", "builtin:cornell", "-o", "a.exr"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    SCOPED_TRACE(wrong.arguments[0] + " " + (wrong.arguments.size() > 1 ? wrong.arguments[1] : ""));
    expectError(run(arguments), 2, wrong.words);
    EXPECT_TRUE(allFiles().empty());
  }
}

TEST_F(Usage, LinksThatCannotBeSayWhyAndWhatWorks) {
  const auto with = [this](const char* link) {
    return run({"capture", "builtin:cornell", "-o", "a.exr", "--size", "16x16", "--samples", "1", "--mode", "pipelined",
                "--simulate-dual", "--link", link});
  };
  expectError(with("peer"), 4, {"peer", "linked group", "--link host-import or host-copy works"});
  EXPECT_TRUE(allFiles().empty());
}

TEST_F(Usage, WhatMustBeGiven) {
  expectError(run({"capture", "-o", "a.exr"}), 2, {"SCENE is missing"});
  expectError(run({"capture", "builtin:cornell"}), 2, {"-o is missing"});
  expectError(run({"capture", "builtin:cornell", "-o", "a.png", "--aov", "depth"}), 2, {"--aov", "EXR"});
}

}  // namespace
}  // namespace tandem::cli
