// A ray that hit nothing.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/ray_payload.glsl"

layout(location = 0) rayPayloadInEXT RayPayload gRay;

void main() { gRay.instance = kRayMissed; }
