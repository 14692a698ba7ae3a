#include "topology/bridge.h"

#include <pthread.h>

namespace tandem::topology {

Bridge::Bridge(std::string name) : name_(std::move(name)), thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
}

Bridge::~Bridge() { stop(); }

void Bridge::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Bridge::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void Bridge::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

bool bridgeMaySpin(bool softwareDevice) { return !softwareDevice && std::thread::hardware_concurrency() >= 4; }

}  // namespace tandem::topology
