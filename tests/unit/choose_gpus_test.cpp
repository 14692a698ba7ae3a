// Which GPUs become nodes, over machines that are made up: two equal cards, unlike ones, a laptop, software alone.
#include "frame/choose_gpus.h"

#include <gtest/gtest.h>

namespace tandem::frame {
namespace {

using gpu::Adapter;
using gpu::AdapterType;

/// UUID: `first` four times, then zeros, then `last`.
Adapter card(uint32_t index, const std::string& name, AdapterType type, uint8_t first, uint8_t last,
             std::optional<uint32_t> bus) {
  Adapter adapter;
  adapter.index = index;
  adapter.name = name;
  adapter.type = type;
  for (size_t i = 0; i < 4; ++i) adapter.uuid[i] = first;
  adapter.uuid.back() = last;
  if (bus) adapter.pci = gpu::PciAddress{0, *bus, 0, 0};
  gpu::HeapInfo heap;
  heap.bytes = heap.budget = uint64_t{8} << 30;
  heap.deviceLocal = true;
  adapter.heaps.push_back(heap);
  return adapter;
}

std::vector<Adapter> twoEqualCards() {
  return {card(0, "NVIDIA H200", AdapterType::Discrete, 0xaa, 1, 0x18),
          card(1, "NVIDIA H200", AdapterType::Discrete, 0xaa, 2, 0x3b)};
}

std::vector<Adapter> laptopAndSoftware() {
  return {card(0, "llvmpipe (LLVM 19.1.7, 256 bits)", AdapterType::Software, 0x6d, 0, std::nullopt),
          card(1, "Intel(R) Iris(R) Xe Graphics", AdapterType::Integrated, 0x86, 0, 0x00),
          card(2, "NVIDIA GeForce RTX 3060", AdapterType::Discrete, 0xbc, 0, 0x01)};
}

MachineSettings asked(const std::string& gpus, Mode mode = Mode::Auto, bool simulate = false) {
  MachineSettings settings;
  settings.gpus = gpus;
  settings.mode = mode;
  settings.simulateDual = simulate;
  return settings;
}

using Indices = std::vector<uint32_t>;

Indices chosen(const std::vector<Adapter>& adapters, const MachineSettings& settings) {
  const auto gpus = chooseGpus(adapters, settings);
  EXPECT_TRUE(static_cast<bool>(gpus)) << (gpus ? "" : gpus.refusal().message);
  return gpus ? *gpus : Indices{};
}

void expectRefused(const std::vector<Adapter>& adapters, const MachineSettings& settings, ExitCode exit,
                   const std::vector<std::string>& words) {
  const auto gpus = chooseGpus(adapters, settings);
  ASSERT_FALSE(static_cast<bool>(gpus)) << settings.gpus << " was accepted";
  EXPECT_EQ(gpus.refusal().exit, exit) << gpus.refusal().message;
  EXPECT_EQ(gpus.refusal().message.find('\n'), std::string::npos);
  for (const std::string& word : words)
    EXPECT_NE(gpus.refusal().message.find(word), std::string::npos)
        << "'" << word << "' is missing in: " << gpus.refusal().message;
}

TEST(ChooseGpus, AutoTakesTheBestTwoGpus) {
  EXPECT_EQ(chosen(laptopAndSoftware(), asked("auto")), (Indices{2, 1}));
  EXPECT_EQ(chosen(laptopAndSoftware(), asked("auto", Mode::Single)), Indices{2});
  EXPECT_EQ(chosen(twoEqualCards(), asked("auto", Mode::Sfr)), (Indices{0, 1}));
}

TEST(ChooseGpus, AutoNeverAddsASoftwareDevice) {
  auto adapters = laptopAndSoftware();
  adapters.pop_back();
  EXPECT_EQ(chosen(adapters, asked("auto")), Indices{1});
  EXPECT_EQ(chosen({adapters[0]}, asked("auto")), Indices{0});
}

TEST(ChooseGpus, AutoNeverTakesOneCardTwiceByTwoDrivers) {
  std::vector<Adapter> adapters{card(0, "AMD Radeon RX 6600 (RADV)", AdapterType::Discrete, 1, 1, 0x03),
                                card(1, "AMD Radeon RX 6600", AdapterType::Discrete, 2, 2, 0x03)};
  EXPECT_EQ(chosen(adapters, asked("auto")), Indices{0});
  expectRefused(adapters, asked("0,1"), ExitCode::WrongUsage,
                {"one GPU twice", "0: AMD Radeon RX 6600 (RADV)", "1: AMD Radeon RX 6600", "--simulate-dual"});
}

TEST(ChooseGpus, NamedByIndexPciAddressUuidOrName) {
  for (const char* word : {"1", "0000:3b:00.0", "3b:00.0", "0000:3B:00.0", "aaaaaaaa-0000-0000-0000-000000000002"})
    EXPECT_EQ(chosen(twoEqualCards(), asked(word)), Indices{1}) << word;
  for (const char* word : {"bcbc", "RTX 3060", "nvidia", "BCBCBCBC-0000"})
    EXPECT_EQ(chosen(laptopAndSoftware(), asked(word)), Indices{2}) << word;
  EXPECT_EQ(chosen(twoEqualCards(), asked("3b:00.0,0")), (Indices{1, 0})) << "the order given is the order of nodes";
}

TEST(ChooseGpus, AnAmbiguousWordListsItsCandidates) {
  for (const char* word : {"aaaa", "NVIDIA H200", "h200"}) {
    expectRefused(twoEqualCards(), asked(word), ExitCode::WrongUsage,
                  {std::string("--gpus ") + word, "fits 2 GPUs", "0000:18:00.0", "0000:3b:00.0",
                   "aaaaaaaa-0000-0000-0000-000000000001", "aaaaaaaa-0000-0000-0000-000000000002"});
  }
  expectRefused(laptopAndSoftware(), asked("i"), ExitCode::WrongUsage, {"fits 3 GPUs"});
}

TEST(ChooseGpus, EqualUuidsWithoutPciAreToldApartByTheirIndex) {
  std::vector<Adapter> adapters{card(0, "llvmpipe", AdapterType::Software, 0x6d, 1, std::nullopt),
                                card(1, "llvmpipe", AdapterType::Software, 0x6d, 1, std::nullopt)};
  expectRefused(adapters, asked("6d6d6d6d"), ExitCode::WrongUsage, {"fits 2 GPUs", "0: llvmpipe", "1: llvmpipe"});
  EXPECT_EQ(chosen(adapters, asked("0,1")), (Indices{0, 1}));
}

TEST(ChooseGpus, AWholeNameWinsOverALongerOneThatContainsIt) {
  std::vector<Adapter> adapters{card(0, "NVIDIA H200 NVL", AdapterType::Discrete, 1, 1, 1),
                                card(1, "NVIDIA H200", AdapterType::Discrete, 2, 2, 2)};
  EXPECT_EQ(chosen(adapters, asked("nvidia h200")), Indices{1});
}

TEST(ChooseGpus, OneGpuNamedTwiceIsRefused) {
  for (const char* words : {"0,0", "1,0,0000:3b:00.0", "0000:18:00.0,0"})
    expectRefused(twoEqualCards(), asked(words), ExitCode::WrongUsage, {words, "one GPU twice", "use --simulate-dual"});
}

TEST(ChooseGpus, AsManyAsAreNamed) {
  std::vector<Adapter> adapters;
  for (uint32_t i = 0; i < 4; ++i) adapters.push_back(card(i, "GPU", AdapterType::Discrete, 1, uint8_t(i), i));
  EXPECT_EQ(chosen(adapters, asked("0,1,2", Mode::Sfr)), (Indices{0, 1, 2}));
  EXPECT_EQ(chosen(adapters, asked("3,2,1,0", Mode::Afr)), (Indices{3, 2, 1, 0}));
  EXPECT_EQ(chosen(adapters, asked("3,2,1,0", Mode::Single)), Indices{3});
}

TEST(ChooseGpus, WordsThatFitNothing) {
  expectRefused(twoEqualCards(), asked("7"), ExitCode::WrongUsage, {"--gpus 7", "no such GPU", "0: NVIDIA H200"});
  expectRefused(twoEqualCards(), asked("0000:99:00.0"), ExitCode::WrongUsage, {"no such GPU", "0000:18:00.0"});
  expectRefused(twoEqualCards(), asked("0,"), ExitCode::WrongUsage, {"a name is missing"});
  expectRefused(twoEqualCards(), asked(""), ExitCode::WrongUsage, {"a name is missing"});
}

TEST(ChooseGpus, ModesOfTwoNeedTwo) {
  const std::vector<Adapter> one{twoEqualCards()[0]};
  for (const Mode mode : {Mode::Pipelined, Mode::Sfr, Mode::Afr}) {
    for (const char* gpus : {"auto", "0"}) {
      expectRefused(one, asked(gpus, mode), ExitCode::WrongUsage,
                    {"--mode " + std::string(modeName(mode)), "two GPUs", "--simulate-dual", "--mode single"});
    }
    EXPECT_EQ(chosen(one, asked("auto", mode, true)), (Indices{0, 0}));
  }
  EXPECT_EQ(chosen(one, asked("auto", Mode::Auto)), Indices{0});
}

TEST(ChooseGpus, SimulatedNodes) {
  MachineSettings settings = asked("1", Mode::Sfr, true);
  settings.simulatedNodes = 4;
  EXPECT_EQ(chosen(twoEqualCards(), settings), (Indices{1, 1, 1, 1}));
  settings.mode = Mode::Single;
  EXPECT_EQ(chosen(twoEqualCards(), settings), Indices{1});
  expectRefused(twoEqualCards(), asked("0,1", Mode::Auto, true), ExitCode::WrongUsage, {"--simulate-dual", "--gpus"});
}

TEST(ChooseGpus, UnusableOnesAreNamedWithTheirReason) {
  auto adapters = twoEqualCards();
  adapters[1].refusals.emplace_back("lacks the feature shaderInt64");
  EXPECT_EQ(chosen(adapters, asked("auto")), Indices{0});
  expectRefused(adapters, asked("1"), ExitCode::NoUsableGpu, {"GPU 1 (NVIDIA H200)", "lacks the feature shaderInt64"});
  expectRefused({adapters[1]}, asked("auto"), ExitCode::NoUsableGpu, {"no usable Vulkan GPU", "shaderInt64"});
  expectRefused({}, asked("auto"), ExitCode::NoUsableGpu, {"no usable Vulkan GPU"});
}

}  // namespace
}  // namespace tandem::frame
