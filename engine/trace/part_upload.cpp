#include "trace/part_upload.h"

#include "gpu/device.h"
#include "gpu/uploader.h"
#include "trace/part_layout.h"

namespace tandem::trace {

namespace {

PartLayout layOut(gpu::Device& device, std::span<const uint64_t> sizes, const char* name,
                  std::vector<gpu::Buffer>& buffers) {
  const uint64_t limit = device.adapter().maxBufferSize / kPartAlignment * kPartAlignment;
  PartLayout layout = layoutParts(sizes, limit, name);
  for (const uint64_t bytes : layout.bufferBytes) buffers.emplace_back(device, bytes, gpu::Memory::Device, name);
  return layout;
}

}  // namespace

std::vector<uint64_t> allocateParts(gpu::Device& device, std::span<const uint64_t> sizes, const char* name,
                                    std::vector<gpu::Buffer>& buffers) {
  const size_t first = buffers.size();
  const PartLayout layout = layOut(device, sizes, name, buffers);
  std::vector<uint64_t> addresses(sizes.size(), 0);
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] > 0) addresses[i] = buffers[first + layout.parts[i].buffer].address() + layout.parts[i].offset;
  }
  return addresses;
}

std::vector<uint64_t> uploadParts(gpu::Device& device, const std::vector<std::span<const std::byte>>& parts,
                                  const char* name, std::vector<gpu::Buffer>& buffers) {
  std::vector<uint64_t> sizes;
  for (const auto& part : parts) sizes.push_back(part.size());
  const size_t first = buffers.size();
  const PartLayout layout = layOut(device, sizes, name, buffers);
  gpu::Uploader uploader(device, name);
  std::vector<uint64_t> addresses(parts.size(), 0);
  for (size_t i = 0; i < parts.size(); i++) {
    if (parts[i].empty()) continue;
    const gpu::Buffer& buffer = buffers[first + layout.parts[i].buffer];
    addresses[i] = buffer.address() + layout.parts[i].offset;
    uploader.add(buffer, layout.parts[i].offset, parts[i]);
  }
  uploader.finish();
  return addresses;
}

}  // namespace tandem::trace
