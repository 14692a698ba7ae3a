#include "jobs/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tandem::jobs {
namespace {

volatile std::sig_atomic_t askedBy = 0;
struct sigaction interruptBefore;
struct sigaction terminateBefore;

extern "C" void onSignal(int signal) {
  if (askedBy != 0) _exit(128 + signal);
  askedBy = signal;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  askedBy = 0;
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interruptBefore);
  sigaction(SIGTERM, &action, &terminateBefore);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &interruptBefore, nullptr);
  sigaction(SIGTERM, &terminateBefore, nullptr);
}

int InterruptGuard::signal() { return askedBy; }

}  // namespace tandem::jobs
