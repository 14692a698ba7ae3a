// What a linked device group needs to add to the objects that gpu/ creates, as pNext chains. A lone device adds
// nothing. Implemented in topology/ (the only place that knows of groups); see engine/decisions/0002-seats.md.
#pragma once

namespace tandem::gpu {

class ObjectHooks {
 public:
  virtual ~ObjectHooks() = default;
  virtual const void* deviceCreateNext() const { return nullptr; }
  virtual const void* commandBeginNext() const { return nullptr; }
  virtual const void* submitNext() const { return nullptr; }
};

}  // namespace tandem::gpu
