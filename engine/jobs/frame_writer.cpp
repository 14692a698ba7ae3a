#include "jobs/frame_writer.h"

#include <algorithm>
#include <exception>
#include <span>

#include "base/check.h"
#include "gpu/clock.h"
#include "jobs/frame_log.h"
#include "jobs/pixel_hash.h"
#include "output/sequence.h"

namespace tandem::jobs {
namespace {

void writeFile(const std::string& file, const FrameJob& job, const FrameWriter::Settings& settings) {
  const auto format = output::formatOf(file);
  TANDEM_CHECK(format, "{} came to the writer with a name that was not checked", file);
  if (*format == output::Format::Png) {
    static_assert(sizeof(shared::LdrTexel) == sizeof(uint32_t));
    output::writePng(file, job.size, {&job.ldr.data()->rgba, job.ldr.size()}, settings.existing);
    return;
  }
  output::ExrImage image;
  image.size = job.size;
  image.radiance = job.linear;
  image.albedo = job.albedo;
  image.normal = job.normal;
  image.depth = job.depth;
  image.motion = job.motion;
  image.compression = settings.compression;
  image.metadata = job.metadata;
  output::writeExr(file, image, settings.existing);
}

/// Notes one file's time, failures included.
class FileTimer {
 public:
  FileTimer(std::vector<FileTime>& times, const std::string& file, uint32_t thread)
      : times_(times), time_{file, thread, gpu::hostNanoseconds(), 0} {}
  ~FileTimer() {
    time_.endNs = gpu::hostNanoseconds();
    times_.push_back(std::move(time_));
  }
  FileTimer(const FileTimer&) = delete;
  FileTimer& operator=(const FileTimer&) = delete;

 private:
  std::vector<FileTime>& times_;
  FileTime time_;
};

}  // namespace

FrameWriter::FrameWriter(const Settings& settings) : settings_(settings) {
  for (uint32_t i = 0; i < std::max(settings.threads, 1u); ++i) threads_.emplace_back([this, i] { work(i); });
}

FrameWriter::~FrameWriter() { finish(); }

void FrameWriter::push(FrameJob job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kWaiting; });
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

bool FrameWriter::hopeless() const {
  const std::lock_guard lock(mutex_);
  return failuresInRow_ >= kHopeless;
}

std::vector<WrittenFrame> FrameWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  std::ranges::sort(written_, {}, &WrittenFrame::frame);
  return std::move(written_);
}

void FrameWriter::work(uint32_t thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const FrameJob job = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    WrittenFrame written = write(job, thread);
    lock.lock();
    failuresInRow_ = written.failure ? failuresInRow_ + 1 : 0;
    written_.push_back(std::move(written));
  }
}

WrittenFrame FrameWriter::write(const FrameJob& job, uint32_t thread) const {
  WrittenFrame written;
  written.frame = job.frame;
  try {
    written.linearHash = pixelHash(std::as_bytes(std::span(job.linear)));
    written.ldrHash = pixelHash(std::as_bytes(std::span(job.ldr)));
    if (settings_.log != nullptr) settings_.log->begin(job);
    for (const std::string& file : job.files) {
      const FileTimer timer(written.times, file, thread);
      writeFile(file, job, settings_);
    }
    if (settings_.log != nullptr) settings_.log->done(job, written);
  } catch (const std::exception& failure) {
    written.failure = failure.what();
    if (settings_.log != nullptr) settings_.log->failed(job, *written.failure);
  }
  return written;
}

}  // namespace tandem::jobs
