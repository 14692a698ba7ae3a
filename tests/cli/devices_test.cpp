// `tandem devices`: the doctor as a person meets it.
#include "cli/run_program.h"
#include "layers/group_environment.h"

namespace tandem::cli {
namespace {

using Devices = Cli;

bool allSoftware(const json& report) {
  return std::ranges::all_of(report["adapters"], [](const json& adapter) { return adapter["type"] == "cpu"; });
}

std::vector<std::string> findingIds(const json& report) {
  std::vector<std::string> ids;
  for (const json& finding : report["findings"]) {
    EXPECT_FALSE(finding["message"].get<std::string>().empty());
    EXPECT_FALSE(finding["advice"].get<std::string>().empty());
    ids.push_back(finding["id"]);
  }
  return ids;
}

bool has(const std::vector<std::string>& ids, const std::string& id) { return std::ranges::find(ids, id) != ids.end(); }

TEST_F(Devices, SaysOfEveryAdapterWhatItUses) {
  const ProgramResult result = run({"devices", "--json"});
  ASSERT_EQ(result.exit, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_TRUE(report["links"].empty()) << "nothing is probed unless asked for";
  EXPECT_TRUE(report["prediction"].is_null());
  for (const json& adapter : report["adapters"]) {
    if (adapter["usable"]) {
      EXPECT_GT(adapter["queues"]["count"], 0);
    }
    if (adapter["type"] == "cpu") {
      EXPECT_TRUE(adapter["pcie"].is_null() && adapter["connected"].is_null());
    }
  }
  const std::string text = run({"devices"}).out;
  for (const char* line : {"queues", "PCIe link", "display", "driver", "device groups:"})
    EXPECT_TRUE(says(text, line)) << line;
}

// A GPU that stands alone is opened twice; of two or more, every pair.
TEST_F(Devices, ProbeTriesEveryLinkOfEveryPair) {
  const ProgramResult result = run({"devices", "--probe", "--json"}, {.environment = {{"XDG_CACHE_HOME", folder_}}});
  ASSERT_EQ(result.exit, 0) << result.err;
  const json report = json::parse(result.out);
  const auto hardware = std::ranges::count_if(report["adapters"], [](const json& a) { return a["type"] != "cpu"; });
  const size_t gpus = hardware > 0 ? static_cast<size_t>(hardware) : report["adapters"].size();
  EXPECT_EQ(report["links"].size(), gpus < 2 ? 1 : gpus * (gpus - 1) / 2);
  for (const json& pair : report["links"]) {
    EXPECT_EQ(pair["from"] == pair["to"], gpus < 2);
    std::vector<std::string> names;
    std::string best;
    for (const json& kind : pair["kinds"]) {
      names.push_back(kind["kind"]);
      EXPECT_EQ(kind["pass"].get<bool>(), kind["reason"].get<std::string>().empty());
      EXPECT_EQ(kind["there"].is_null(), !kind["pass"].get<bool>());
      if (kind["pass"]) {
        for (const char* way : {"there", "back"}) EXPECT_GT(kind[way]["streamGbps"], 0.0) << kind["kind"];
        if (kind["kind"] == pair["best"]) best = kind["kind"];
      }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"peer", "cuda", "host-import", "host-copy"}));
    EXPECT_FALSE(best.empty()) << "the best is one that passed";
  }
  // What was found is kept for hardware; software devices are never asked again.
  EXPECT_EQ(fs::exists(path("tandem/links.json")), hardware > 0);
}

// Two software devices that the test's layer shows as one linked group (tests/layers).
TEST_F(Devices, ALinkedGroupHasAPeerLink) {
  const auto variables = test::groupEnvironment(TANDEM_BINARY_DIR);
  const RunOptions grouped{.environment = {variables.begin(), variables.end()}};
  const ProgramResult result = run({"devices", "--probe", "--json"}, grouped);
  ASSERT_EQ(result.exit, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report["groups"], json::parse("[[0, 1]]"));
  ASSERT_EQ(report["links"].size(), 1u);
  const json& peer = report["links"][0]["kinds"][0];
  EXPECT_EQ(peer["kind"], "peer");
  EXPECT_TRUE(peer["pass"]) << peer["reason"];
  EXPECT_GT(peer["there"]["streamGbps"], 0.0);
  EXPECT_EQ(result.err, "") << "the validation layer above it has nothing to say";
}

TEST_F(Devices, PredictsEveryModeForAScene) {
  const std::vector<std::string> words{"devices",   "--scene", "builtin:cornell", "--size", "64x48",
                                       "--samples", "1",       "--bounces",       "1"};
  std::vector<std::string> forPrograms = words;
  forPrograms.push_back("--json");
  const ProgramResult result = run(forPrograms, {.environment = {{"XDG_CACHE_HOME", folder_}}});
  ASSERT_EQ(result.exit, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_TRUE(report["links"].empty()) << "nobody asked for them";
  const json& prediction = report["prediction"];
  EXPECT_EQ(prediction["width"], 64);
  EXPECT_EQ(prediction["bytesPerFrame"], 64 * 48 * 16);
  const json& measured = prediction["measured"][0];
  EXPECT_GT(measured["traceMs"], 0.0);
  EXPECT_GT(measured["postMs"], 0.0);
  std::vector<std::string> modes;
  for (const json& mode : prediction["modes"]) modes.push_back(mode["mode"]);
  EXPECT_EQ(modes, (std::vector<std::string>{"single", "pipelined", "sfr", "afr"}));
  EXPECT_TRUE(has(modes, prediction["choice"]));
  const json& single = prediction["modes"][0];
  EXPECT_NEAR(single["ms"].get<double>(), measured["traceMs"].get<double>() + measured["postMs"].get<double>(), 1e-9);
  EXPECT_EQ(single["xSingle"], 1.0);
  EXPECT_GT(prediction["modes"][3]["xSingle"], 1.0) << "whole frames in turn: the rates add";
  const std::string text = run(words).out;
  EXPECT_TRUE(says(text, "prediction for builtin:cornell at 64x48") && says(text, "predicted: single")) << text;
  EXPECT_EQ(says(text, "nothing is won"), allSoftware(report));
}

TEST_F(Devices, NamesMistakes) {
  const RunOptions missing{.environment = {{"VK_ADD_DRIVER_FILES", "/nonexistent/icd.json"}, {"DISPLAY", ":99"}}};
  const ProgramResult result = run({"devices", "--json"}, missing);
  ASSERT_EQ(result.exit, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_TRUE(has(findingIds(report), "missing-driver-file"));
  if (allSoftware(report)) {
    EXPECT_TRUE(has(findingIds(report), "foreign-display"));
  }
  const std::string text = run({"devices"}, missing).out;
  EXPECT_TRUE(says(text, "problem: VK_ADD_DRIVER_FILES names") && says(text, "/nonexistent/icd.json")) << text;
  EXPECT_TRUE(says(text, "what to do: ")) << text;
}

TEST_F(Devices, WithoutADriverTheOneLineSaysWhatIsMissing) {
  const RunOptions nowhere{.environment = {{"VK_DRIVER_FILES", "/nonexistent/driver.json"}}};
  expectError(run({"devices", "--probe"}, nowhere), 4,
              {"VK_DRIVER_FILES names the driver file /nonexistent/driver.json", "/usr/share/vulkan/icd.d"});
}

TEST_F(Devices, WordsThatCannotBeMeant) {
  expectError(run({"devices", "--size", "64x48"}), 2, {"--size", "--scene"});
  expectError(run({"devices", "--scene", ""}), 2, {"--scene"});
  expectError(run({"devices", "--scene", "builtin:cornell", "--size", "0x1"}), 2, {"--size 0x1"});
  expectError(run({"devices", "--scene", "builtin:cornell", "--samples", "many"}), 2, {"--samples many"});
  expectError(run({"devices", "--scene", "builtin:cornel", "--size", "64x48"}), 2, {"builtin:cornel", "furnace"});
  expectError(run({"devices", "--scene", "nowhere.glb", "--size", "64x48"}), 3, {"nowhere.glb"});
}

}  // namespace
}  // namespace tandem::cli
