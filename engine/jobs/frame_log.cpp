#include "jobs/frame_log.h"

#include <filesystem>
#include <utility>

#include "jobs/frame_writer.h"
#include "jobs/targets.h"

namespace tandem::jobs {
FrameLog::FrameLog(const std::vector<output::OutputPattern>& patterns) {
  for (const output::OutputPattern& pattern : patterns) {
    const std::string path = std::filesystem::path(manifestPath(pattern)).lexically_normal().string();
    const auto [known, isNew] = order_.emplace(path, manifests_.size());
    manifests_.push_back(isNew ? std::make_shared<Manifest>(pattern) : manifests_[known->second]);
  }
}

std::optional<Refusal> FrameLog::openExisting() {
  for (const auto& [path, index] : order_) {
    if (auto refusal = manifests_[index]->openExisting()) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> FrameLog::create() {
  for (const auto& [path, index] : order_) {
    if (auto refusal = manifests_[index]->create()) return refusal;
  }
  return std::nullopt;
}

void FrameLog::describe(std::string settings, std::string device) {
  settings_ = std::move(settings);
  device_ = std::move(device);
}

const ManifestEntry* FrameLog::find(const Target& target, size_t index) const {
  return manifests_[index]->find(target.files[index]);
}

ManifestEntry FrameLog::entryOf(const FrameJob& job, FrameStatus status) const {
  ManifestEntry entry;
  entry.frame = job.frame;
  entry.status = status;
  entry.settings = settings_;
  entry.device = device_;
  return entry;
}

void FrameLog::begin(const FrameJob& job) {
  for (size_t i = 0; i < job.files.size(); ++i) {
    const ManifestEntry* before = manifests_[i]->find(job.files[i]);
    if (before == nullptr || before->status != FrameStatus::Done) continue;
    manifests_[i]->append(job.files[i], entryOf(job, FrameStatus::Begun));
  }
}

void FrameLog::done(const FrameJob& job, const WrittenFrame& written) {
  ManifestEntry entry = entryOf(job, FrameStatus::Done);
  entry.linearHash = written.linearHash;
  entry.ldrHash = written.ldrHash;
  entry.seconds = job.seconds;
  for (size_t i = 0; i < job.files.size(); ++i) {
    std::error_code error;
    entry.bytes = std::filesystem::file_size(job.files[i], error);
    if (error) throw adverse("{} is gone: {}; keep others out of that folder", job.files[i], error.message());
    manifests_[i]->append(job.files[i], entry);
  }
}

void FrameLog::failed(const FrameJob& job, const std::string& message) noexcept {
  try {
    ManifestEntry entry = entryOf(job, FrameStatus::Failed);
    entry.message = message;
    for (size_t i = 0; i < job.files.size(); ++i) manifests_[i]->append(job.files[i], entry);
  } catch (const std::exception&) {
    return;  // the run's report has the message
  }
}

}  // namespace tandem::jobs
