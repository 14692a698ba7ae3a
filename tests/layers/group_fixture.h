// Tests above the group layer stand on this: an instance with a linked group of GPUs 0 and 1 under validation, whose
// messages fail a test, and what the layer has seen below.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/instance.h"
#include "layers/group_environment.h"
#include "layers/group_layer.h"
#include "topology/topology.h"

namespace tandem::test {

/// Vulkan with the group layer, once for all tests of this program that want it.
class GroupTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const auto& [name, value] : groupEnvironment(TANDEM_BINARY_DIR)) ::setenv(name.c_str(), value.c_str(), 1);
    auto opened = gpu::Instance::open({.validation = true});
    if (!opened) throw std::runtime_error(opened.refusal().message);
    instance_ = std::move(*opened);
  }
  static void TearDownTestSuite() {
    instance_.reset();
    for (const auto& variable : groupEnvironment(TANDEM_BINARY_DIR)) ::unsetenv(variable.first.c_str());
  }
  void SetUp() override {
    messagesBefore_ = instance_->messages().count();
    before_ = counts();
  }
  void TearDown() override {
    const auto messages = instance_->messages().messages();
    for (size_t i = messagesBefore_; i < messages.size(); ++i) ADD_FAILURE() << "validation: " << messages[i];
  }

  static gpu::Instance& instance() { return *instance_; }

  /// For tests that provoke messages: those that came, one after the other; they no longer fail the test.
  std::string takeMessages() {
    const auto messages = instance_->messages().messages();
    std::string taken;
    for (; messagesBefore_ < messages.size(); ++messagesBefore_) taken += messages[messagesBefore_] + "\n";
    return taken;
  }

  static Expected<std::unique_ptr<topology::Topology>> tryOpen(std::vector<uint32_t> adapters,
                                                               topology::TopologyKind kind,
                                                               topology::LinkKind link = topology::LinkKind::Auto) {
    topology::TopologyRequest request;
    request.adapters = std::move(adapters);
    request.kind = kind;
    request.link = link;
    return topology::open(instance(), request);
  }
  static std::unique_ptr<topology::Topology> openGroup(topology::LinkKind link = topology::LinkKind::Auto) {
    auto opened = tryOpen({0, 1}, topology::TopologyKind::Group, link);
    if (!opened) throw std::runtime_error(opened.refusal().message);
    return std::move(*opened);
  }

  /// What the layer has seen since the test began.
  GroupLayerCounts seen() const {
    GroupLayerCounts now = counts();
    now.devices -= before_.devices;
    now.sharedAllocations -= before_.sharedAllocations;
    now.wrongSubmits -= before_.wrongSubmits;
    now.peerCopies -= before_.peerCopies;
    now.strayAccesses -= before_.strayAccesses;
    for (int member = 0; member < 2; ++member) {
      now.allocatedBytes[member] -= before_.allocatedBytes[member];
      now.begins[member] -= before_.begins[member];
      now.submits[member] -= before_.submits[member];
    }
    return now;
  }
  static void expectClean(const GroupLayerCounts& seen) {
    EXPECT_EQ(seen.sharedAllocations, 0u) << "memory on both GPUs at once";
    EXPECT_EQ(seen.wrongSubmits, 0u) << "commands on another GPU than they were recorded for";
    EXPECT_EQ(seen.strayAccesses, 0u) << "copies that a real group could not have made";
  }

 private:
  static GroupLayerCounts counts() {
    static void* library = ::dlopen(TANDEM_BINARY_DIR "/tests/layers/libtandem_group_layer.so", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) throw std::runtime_error("the loader did not load the group layer");
    GroupLayerCounts counts;
    reinterpret_cast<GroupLayerCountsFunction>(::dlsym(library, kGroupLayerCountsName))(&counts);
    return counts;
  }

  static inline std::unique_ptr<gpu::Instance> instance_;
  size_t messagesBefore_ = 0;
  GroupLayerCounts before_;
};

}  // namespace tandem::test
