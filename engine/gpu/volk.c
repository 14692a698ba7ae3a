/* The implementation of volk, the Vulkan function loader, compiled from the distribution's own header. */
#define VOLK_IMPLEMENTATION
#include <volk.h>
