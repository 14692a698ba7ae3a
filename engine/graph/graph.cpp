#include "graph/graph.h"

#include <algorithm>

#include "base/check.h"

namespace tandem::graph {

namespace {

bool makes(const Pass& pass, uint32_t resource) {
  return std::any_of(pass.writes.begin(), pass.writes.end(), [&](const Access& w) { return w.resource == resource; });
}

}  // namespace

void PassBuilder::sideEffect() { pass_.sideEffect = true; }

void PassBuilder::shareable() { pass_.shareable = true; }

uint32_t PassBuilder::createResource(BufferDesc desc) {
  TANDEM_CHECK(!desc.name.empty(), "pass '{}' creates a resource without a name", pass_.name);
  TANDEM_CHECK(desc.bytes() > 0, "pass '{}' creates resource '{}' of {} rows of {} bytes: it has no bytes", pass_.name,
               desc.name, desc.rows, desc.rowBytes);
  const auto resource = static_cast<uint32_t>(graph_.resources_.size());
  graph_.resources_.push_back(std::move(desc));
  graph_.versions_.push_back(0);
  graph_.sharedMakers_.push_back(UINT32_MAX);
  pass_.writes.push_back({resource, 0});
  return resource;
}

void PassBuilder::readVersion(uint32_t resource, uint32_t version, bool byRows) {
  TANDEM_CHECK(resource < graph_.resources_.size(), "pass '{}' reads resource {}, which no pass has created",
               pass_.name, resource);
  const std::string& name = graph_.resources_[resource].name;
  TANDEM_CHECK(version == graph_.versions_[resource],
               "pass '{}' reads version {} of resource '{}', but its version is {}: use the handle that the last write "
               "returned",
               pass_.name, version, name, graph_.versions_[resource]);
  TANDEM_CHECK(!makes(pass_, resource), "pass '{}' reads resource '{}', which it makes itself: leave the read out",
               pass_.name, name);
  TANDEM_CHECK(byRows || graph_.sharedMakers_[resource] == UINT32_MAX,
               "pass '{}' reads resource '{}' as one piece, but its rows may lie in several: use readRows", pass_.name,
               name);
  if (byRows) pass_.rowReads.push_back(resource);
  const Access access{resource, version};
  if (std::find(pass_.reads.begin(), pass_.reads.end(), access) == pass_.reads.end()) pass_.reads.push_back(access);
}

uint32_t PassBuilder::writeVersion(uint32_t resource, uint32_t version) {
  TANDEM_CHECK(resource < graph_.resources_.size(), "pass '{}' writes resource {}, which no pass has created",
               pass_.name, resource);
  const std::string& name = graph_.resources_[resource].name;
  TANDEM_CHECK(!makes(pass_, resource), "pass '{}' declares resource '{}' twice for writing: once is enough",
               pass_.name, name);
  TANDEM_CHECK(version == graph_.versions_[resource],
               "pass '{}' writes to version {} of resource '{}', but its version is {}: use the handle that the last "
               "write returned",
               pass_.name, version, name, graph_.versions_[resource]);
  TANDEM_CHECK(graph_.sharedMakers_[resource] == UINT32_MAX,
               "pass '{}' changes resource '{}', whose rows may lie on several nodes: make a new one", pass_.name,
               name);
  const uint32_t made = ++graph_.versions_[resource];
  pass_.writes.push_back({resource, made});
  return made;
}

void PassBuilder::readHistory(uint32_t resource) {
  TANDEM_CHECK(resource < graph_.resources_.size(),
               "pass '{}' reads the previous content of resource {}, which no pass has created", pass_.name, resource);
  TANDEM_CHECK(graph_.sharedMakers_[resource] == UINT32_MAX,
               "pass '{}' reads the previous content of '{}', whose rows may lie on several nodes: keep a copy of it",
               pass_.name, graph_.resources_[resource].name);
  auto& previous = pass_.previous;
  if (std::find(previous.begin(), previous.end(), resource) == previous.end()) previous.push_back(resource);
}

void Graph::finish(Pass pass, std::function<void(Recording&)> record) {
  const std::string first = pass.writes.empty() ? "nothing" : "'" + resources_[pass.writes[0].resource].name + "'";
  TANDEM_CHECK(!pass.name.empty(), "a pass that makes {} has no name", first);
  const bool known = std::any_of(passes_.begin(), passes_.end(), [&](const Pass& p) { return p.name == pass.name; });
  TANDEM_CHECK(!known, "there are two passes named '{}' (the second makes {}): give each its own name", pass.name,
               first);
  if (pass.shareable) {
    TANDEM_CHECK(!pass.writes.empty(), "shareable pass '{}' makes nothing whose rows could be shared", pass.name);
    for (const Access& write : pass.writes) {
      TANDEM_CHECK(std::ranges::count(pass.previous, write.resource) == 0,
                   "shareable pass '{}' reads the previous content of '{}', whose rows may lie on several nodes",
                   pass.name, resources_[write.resource].name);
      const BufferDesc& made = resources_[write.resource];
      TANDEM_CHECK(write.version == 0 && made.rows == resources_[pass.writes[0].resource].rows,
                   "shareable pass '{}' makes '{}' of {} rows beside others of {}: all must be new and of one height",
                   pass.name, made.name, made.rows, resources_[pass.writes[0].resource].rows);
      sharedMakers_[write.resource] = static_cast<uint32_t>(passes_.size());
    }
  }
  pass.record = std::move(record);
  passes_.push_back(std::move(pass));
}

}  // namespace tandem::graph
