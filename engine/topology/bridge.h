// The bridge: a host thread between two devices. It waits for the sender's timeline, moves what the host must move, and
// submits the receiver's work: nothing is ever queued on a device behind a value that only the host will signal
// (decisions/0004-bridge.md).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tandem::topology {

/// Runs jobs one after another, in the order of posting. A job handles its own errors. Destruction finishes what was
/// posted.
class Bridge {
 public:
  explicit Bridge(std::string name);
  ~Bridge();
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  /// False after stop(): the job will not run.
  bool post(std::function<void()> job);
  /// Finishes what was posted and takes no more. Afterwards no job runs.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::string name_;
  std::thread thread_;
};

/// Whether a bridge should poll counters instead of sleeping: hardware devices only, and at least four cores, so that
/// nothing starves.
bool bridgeMaySpin(bool softwareDevice);

}  // namespace tandem::topology
