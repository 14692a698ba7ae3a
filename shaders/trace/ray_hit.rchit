// The nearest triangle that a ray hit. Instances carry their place in the frame's list of placements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/ray_payload.glsl"

layout(location = 0) rayPayloadInEXT RayPayload gRay;
hitAttributeEXT vec2 gBarycentrics;

void main() {
  gRay.t = gl_HitTEXT;
  gRay.instance = gl_InstanceCustomIndexEXT;
  gRay.primitive = gl_PrimitiveID;
  gRay.barycentrics = gBarycentrics;
}
