#include "scene/builtin_shapes.h"

#include <cmath>
#include <utility>

namespace tandem::scene {

namespace {

constexpr float kPi = 3.14159265358979f;

/// The rotation that turns -Z into `forward` and keeps +Y as high as possible.
quat lookAlong(vec3 forward) {
  const vec3 z = -glm::normalize(forward);
  const vec3 helper = std::abs(z.y) < 0.999f ? vec3(0.0f, 1.0f, 0.0f) : vec3(1.0f, 0.0f, 0.0f);
  const vec3 x = glm::normalize(glm::cross(helper, z));
  return glm::normalize(glm::quat_cast(mat3(x, glm::cross(z, x), z)));
}

void addFace(Mesh& mesh, vec3 corner, vec3 edgeU, vec3 edgeV) {
  const auto base = static_cast<uint32_t>(mesh.positions.size());
  const vec3 normal = glm::normalize(glm::cross(edgeU, edgeV));
  for (const vec2 uv : {vec2(0.0f, 0.0f), vec2(1.0f, 0.0f), vec2(1.0f, 1.0f), vec2(0.0f, 1.0f)}) {
    mesh.positions.push_back(corner + uv.x * edgeU + uv.y * edgeV);
    mesh.normals.push_back(normal);
    mesh.uv0.push_back(vec2(uv.x, 1.0f - uv.y));
  }
  for (const uint32_t i : {0u, 1u, 2u, 0u, 2u, 3u}) mesh.indices.push_back(base + i);
}

}  // namespace

Mesh makeQuad(vec3 corner, vec3 edgeU, vec3 edgeV, uint32_t material) {
  Mesh mesh;
  mesh.material = material;
  addFace(mesh, corner, edgeU, edgeV);
  return mesh;
}

Mesh makeBox(vec3 halfSize, uint32_t material) {
  Mesh mesh;
  mesh.material = material;
  const vec3 x(2.0f * halfSize.x, 0.0f, 0.0f);
  const vec3 y(0.0f, 2.0f * halfSize.y, 0.0f);
  const vec3 z(0.0f, 0.0f, 2.0f * halfSize.z);
  const vec3 low = -halfSize;
  const vec3 high = halfSize;
  addFace(mesh, low + z, x, y);
  addFace(mesh, low + x, -x, y);
  addFace(mesh, high - y, -z, y);
  addFace(mesh, low, z, y);
  addFace(mesh, low + y + z, x, -z);
  addFace(mesh, low, x, z);
  return mesh;
}

Mesh makeSphere(float radius, uint32_t segments, uint32_t rings, uint32_t material) {
  Mesh mesh;
  mesh.material = material;
  for (uint32_t ring = 0; ring <= rings; ++ring) {
    const float v = static_cast<float>(ring) / static_cast<float>(rings);
    for (uint32_t segment = 0; segment <= segments; ++segment) {
      const float u = static_cast<float>(segment) / static_cast<float>(segments);
      const vec3 normal(std::sin(kPi * v) * std::cos(2.0f * kPi * u), std::cos(kPi * v),
                        -std::sin(kPi * v) * std::sin(2.0f * kPi * u));
      mesh.positions.push_back(radius * normal);
      mesh.normals.push_back(glm::normalize(normal));
      mesh.uv0.push_back(vec2(u, v));
    }
  }
  for (uint32_t ring = 0; ring < rings; ++ring) {
    for (uint32_t segment = 0; segment < segments; ++segment) {
      const uint32_t a = ring * (segments + 1) + segment;
      const uint32_t below = a + segments + 1;
      // At a pole one edge has no length: one triangle of the two is left out.
      if (ring + 1 < rings) mesh.indices.insert(mesh.indices.end(), {a, below, below + 1});
      if (ring > 0) mesh.indices.insert(mesh.indices.end(), {a, below + 1, a + 1});
    }
  }
  return mesh;
}

Mesh makeWheel(float radius, float thickness, uint32_t spokes, uint32_t material) {
  constexpr uint32_t kRimParts = 24;
  Mesh mesh;
  mesh.material = material;
  const float rim = 0.1f * radius;
  const float rimCentre = radius - rim;
  for (uint32_t i = 0; i < kRimParts; ++i) {
    const float angle = 2.0f * kPi * static_cast<float>(i) / kRimParts;
    Mesh part = makeBox(vec3(rim, rimCentre * std::tan(kPi / kRimParts), 0.5f * thickness), material);
    transformMesh(part, rimCentre * vec3(std::cos(angle), std::sin(angle), 0.0f),
                  glm::angleAxis(angle, vec3(0.0f, 0.0f, 1.0f)));
    appendMesh(mesh, part);
  }
  for (uint32_t i = 0; i < spokes; ++i) {
    const float angle = 2.0f * kPi * static_cast<float>(i) / static_cast<float>(spokes);
    Mesh part = makeBox(vec3(0.5f * rimCentre, 0.05f * radius, 0.25f * thickness), material);
    transformMesh(part, 0.5f * rimCentre * vec3(std::cos(angle), std::sin(angle), 0.0f),
                  glm::angleAxis(angle, vec3(0.0f, 0.0f, 1.0f)));
    appendMesh(mesh, part);
  }
  appendMesh(mesh, makeBox(vec3(0.15f * radius, 0.15f * radius, 0.6f * thickness), material));
  return mesh;
}

void transformMesh(Mesh& mesh, vec3 translation, quat rotation) {
  for (vec3& position : mesh.positions) position = translation + rotation * position;
  for (vec3& normal : mesh.normals) normal = glm::normalize(rotation * normal);
}

void appendMesh(Mesh& mesh, const Mesh& part) {
  const auto base = static_cast<uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), part.positions.begin(), part.positions.end());
  mesh.normals.insert(mesh.normals.end(), part.normals.begin(), part.normals.end());
  mesh.uv0.insert(mesh.uv0.end(), part.uv0.begin(), part.uv0.end());
  for (const uint32_t index : part.indices) mesh.indices.push_back(base + index);
}

uint32_t addMaterial(Scene& scene, std::string name, vec3 baseColor, float roughness) {
  Material material;
  material.name = std::move(name);
  material.baseColor = vec4(baseColor, 1.0f);
  material.metallic = 0.0f;
  material.roughness = roughness;
  scene.materials.push_back(std::move(material));
  return static_cast<uint32_t>(scene.materials.size() - 1);
}

uint32_t addEmitter(Scene& scene, std::string name, vec3 radiance) {
  const uint32_t index = addMaterial(scene, std::move(name), vec3(0.0f), 1.0f);
  scene.materials[index].emissive = radiance;
  scene.materials[index].specular = 0.0f;
  return index;
}

uint32_t addShape(Scene& scene, std::string name, Mesh mesh, vec3 translation) {
  mesh.name = name;
  scene.meshes.push_back(std::move(mesh));
  Node node;
  node.name = std::move(name);
  node.translation = translation;
  node.meshes.push_back(static_cast<uint32_t>(scene.meshes.size() - 1));
  scene.nodes.push_back(std::move(node));
  return static_cast<uint32_t>(scene.nodes.size() - 1);
}

void addCamera(Scene& scene, std::string name, vec3 eye, vec3 target, float yfovDegrees) {
  Lens lens;
  lens.name = name;
  lens.yfov = glm::radians(yfovDegrees);
  scene.lenses.push_back(std::move(lens));
  Node node;
  node.name = std::move(name);
  node.translation = eye;
  node.rotation = lookAlong(target - eye);
  node.lens = static_cast<uint32_t>(scene.lenses.size() - 1);
  scene.nodes.push_back(std::move(node));
}

void addSun(Scene& scene, vec3 direction, vec3 color, float lux) {
  Light light;
  light.name = "sun";
  light.kind = LightKind::Directional;
  light.color = color;
  light.intensity = lux;
  scene.lights.push_back(std::move(light));
  Node node;
  node.name = "sun";
  node.rotation = lookAlong(direction);
  node.light = static_cast<uint32_t>(scene.lights.size() - 1);
  scene.nodes.push_back(std::move(node));
}

}  // namespace tandem::scene
