// `tandem devices`
#include "jobs/devices.h"

#include <memory>

#include "commands.h"

namespace tandem::app {

Command addDevices(CLI::App& parser) {
  CLI::App* command = parser.add_subcommand("devices", "List the Vulkan devices and why each can or cannot be used");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON object on stdout");
  return [json] {
    const auto list = jobs::listDevices();
    if (!list) return fail(list.refusal());
    print(*json ? jobs::devicesJson(*list) : jobs::devicesText(*list));
    if (list->anyUsable()) return 0;
    return fail(refuse(ExitCode::NoUsableGpu, "none of these devices can be used; see the reasons above"));
  };
}

}  // namespace tandem::app
