// What the refitting passes share: the tree whose boxes follow its triangles.
#ifndef TANDEM_SHADERS_TRACE_REFIT_GLSL
#define TANDEM_SHADERS_TRACE_REFIT_GLSL

#include "shaders/shared/bvh.h"
#include "shaders/shared/deform.h"
#include "shaders/shared/scene.h"

layout(push_constant, scalar) uniform Push { RefitPush push; };

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Jobs { RefitJob job[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Words { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Triangles { BvhTriangle triangle[]; };

#define JOB Jobs(push.jobs).job[push.job + gl_WorkGroupID.y]

#endif
