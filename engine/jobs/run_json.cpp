#include "jobs/run_json.h"

#include <nlohmann/json.hpp>

namespace tandem::jobs {

using json = nlohmann::ordered_json;

json nodeJson(const frame::NodeReport& node) {
  return {{"node", node.node},     {"adapter", node.adapter}, {"uuid", node.uuid},
          {"pci", node.pci},       {"driver", node.driver},   {"type", node.type},
          {"tracer", node.tracer}, {"rows", node.rows},       {"sceneBytes", node.sceneBytes}};
}

json linkJson(const exec::LinkUse& link) {
  const topology::LinkReport& carried = link.carried;
  return {{"from", link.from},
          {"to", link.to},
          {"kind", carried.kind},
          {"path", carried.path},
          {"bytes", carried.bytes},
          {"plannedBytes", link.plannedBytes},
          {"plannedBytesPerFrame", link.plannedBytesPerFrame},
          {"transfers", carried.transfers},
          {"gbps", carried.gigabytesPerSecond()},
          {"sendMs", carried.sendMs},
          {"hostMs", carried.hostMs},
          {"receiveMs", carried.receiveMs}};
}

}  // namespace tandem::jobs
