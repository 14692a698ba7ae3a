#include "scene/builtin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/parallel.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"

namespace tandem::scene {

namespace {

constexpr float kPi = 3.14159265358979f;
constexpr uint64_t kDefaultTerrainTriangles = 1002528;  // 2 * 708^2
constexpr uint64_t kMaxTerrainTriangles = 130000000;    // one mesh; trace/embree_builder.h, kMostEntries

constexpr uint64_t kMaxSkinnedVertices = 50'000'000;

/// White spheres in white light from everywhere: no energy lost or won shows as radiance 1 in every pixel.
Scene makeFurnace() {
  Scene scene;
  const uint32_t white = addMaterial(scene, "white", vec3(1.0f), 1.0f);
  addShape(scene, "sphere", makeSphere(1.0f, 96, 48, white));
  addShape(scene, "left", makeSphere(0.5f, 64, 32, white), vec3(-1.4f, -0.5f, 0.3f));
  addShape(scene, "right", makeSphere(0.3f, 64, 32, white), vec3(1.2f, -0.7f, 0.5f));
  addCamera(scene, "camera", vec3(0.0f, 0.0f, 5.0f), vec3(0.0f), 40.0f);
  scene.environment = uniformEnvironment(vec3(1.0f));
  return scene;
}

/// One Lambert sphere under one sun: radiance = 0.5 / pi * lux * max(0, normal . towards the sun).
Scene makeLitSphere() {
  Scene scene;
  const uint32_t grey = addMaterial(scene, "grey", vec3(0.5f), 1.0f);
  scene.materials[grey].specular = 0.0f;
  addShape(scene, "sphere", makeSphere(1.0f, 512, 256, grey));
  addSun(scene, vec3(-1.0f, -1.0f, -1.0f), vec3(1.0f), 2.0f * kPi);
  addCamera(scene, "camera", vec3(0.0f, 0.0f, 4.0f), vec3(0.0f), 40.0f);
  return scene;
}

/// After the box of Goral et al. (SIGGRAPH 1984) and Cornell's later one: a room of 2 m, open towards +Z.
Scene makeCornell() {
  Scene scene;
  const uint32_t white = addMaterial(scene, "white", vec3(0.73f), 1.0f);
  const uint32_t red = addMaterial(scene, "red", vec3(0.63f, 0.065f, 0.05f), 1.0f);
  const uint32_t green = addMaterial(scene, "green", vec3(0.14f, 0.45f, 0.091f), 1.0f);
  const uint32_t lamp = addEmitter(scene, "lamp", vec3(17.0f, 12.0f, 6.0f));
  const vec3 x(2.0f, 0.0f, 0.0f);
  const vec3 y(0.0f, 2.0f, 0.0f);
  const vec3 z(0.0f, 0.0f, 2.0f);
  const vec3 low(-1.0f, 0.0f, -1.0f);
  addShape(scene, "floor", makeQuad(low, z, x, white));
  addShape(scene, "ceiling", makeQuad(low + y, x, z, white));
  addShape(scene, "back", makeQuad(low, x, y, white));
  addShape(scene, "left", makeQuad(low, y, z, red));
  addShape(scene, "right", makeQuad(low + x, z, y, green));
  addShape(scene, "lamp", makeQuad(vec3(-0.25f, 1.995f, -0.2f), vec3(0.5f, 0.0f, 0.0f), vec3(0.0f, 0.0f, 0.4f), lamp));
  const uint32_t tallBox =
      addShape(scene, "tall box", makeBox(vec3(0.3f, 0.6f, 0.3f), white), vec3(-0.35f, 0.6f, -0.3f));
  scene.nodes[tallBox].rotation = glm::angleAxis(glm::radians(17.0f), vec3(0.0f, 1.0f, 0.0f));
  const uint32_t shortBox = addShape(scene, "short box", makeBox(vec3(0.3f), white), vec3(0.35f, 0.3f, 0.3f));
  scene.nodes[shortBox].rotation = glm::angleAxis(glm::radians(-17.0f), vec3(0.0f, 1.0f, 0.0f));
  addCamera(scene, "camera", vec3(0.0f, 1.0f, 4.4f), vec3(0.0f, 1.0f, 0.0f), 36.0f);
  return scene;
}

float terrainHeight(float x, float z) {
  return 1.2f * std::sin(1.3f * x) * std::cos(1.1f * z) + 0.3f * std::sin(7.0f * x + 3.0f * z) +
         0.15f * std::sin(23.0f * x) * std::sin(19.0f * z);
}

constexpr size_t kTerrainRows = 32;  // that one thread makes at a time

/// Positions of a height field of (grid + 1)^2 vertices, row by row along Z.
void addTerrainPositions(Mesh& mesh, uint32_t grid) {
  const float step = 20.0f / static_cast<float>(grid);
  const size_t width = size_t{grid} + 1;
  mesh.positions.resize(width * width);
  parallelFor(width, kTerrainRows, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) {
      for (size_t i = 0; i < width; ++i) {
        const float x = static_cast<float>(i) * step - 10.0f;
        const float z = static_cast<float>(j) * step - 10.0f;
        const float spike = (i * 7919 + j * 104729) % 97 < 3 ? 1.0f : 0.0f;
        mesh.positions[j * width + i] = vec3(x, terrainHeight(x, z) + spike, z);
      }
    }
  });
}

/// The sum of the normals of the up to six triangles at a vertex, by their areas, in the triangles' order.
vec3 terrainNormal(const Mesh& mesh, uint32_t grid, size_t i, size_t j) {
  const size_t width = size_t{grid} + 1;
  vec3 sum(0.0f);
  const auto add = [&](size_t a, size_t b, size_t c) {
    const vec3 p = mesh.positions[a];
    sum += glm::cross(mesh.positions[b] - p, mesh.positions[c] - p);
  };
  const auto addUpper = [&](size_t corner) { add(corner, corner + width, corner + 1); };
  const auto addLower = [&](size_t corner) { add(corner + 1, corner + width, corner + width + 1); };
  const size_t here = j * width + i;
  if (j > 0 && i > 0) addLower(here - width - 1);
  if (j > 0 && i < grid) {
    addUpper(here - width);
    addLower(here - width);
  }
  if (j < grid && i > 0) {
    addUpper(here - 1);
    addLower(here - 1);
  }
  if (j < grid && i < grid) addUpper(here);
  return glm::normalize(sum);
}

/// A rough height field of 20 m x 20 m, with a metre-high spike on about every thirtieth vertex.
Scene makeTerrain(uint64_t triangles) {
  Scene scene;
  const uint32_t soil = addMaterial(scene, "soil", vec3(0.45f, 0.38f, 0.28f), 0.9f);
  const auto grid = static_cast<uint32_t>(std::max(1.0, std::round(std::sqrt(static_cast<double>(triangles) / 2.0))));
  Mesh mesh;
  mesh.material = soil;
  addTerrainPositions(mesh, grid);
  const size_t width = size_t{grid} + 1;
  mesh.normals.resize(mesh.positions.size());
  mesh.indices.resize(size_t{grid} * grid * 6);
  parallelFor(width, kTerrainRows, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) {
      for (size_t i = 0; i < width; ++i) mesh.normals[j * width + i] = terrainNormal(mesh, grid, i, j);
      for (size_t i = 0; i < grid && j < grid; ++i) {
        const auto a = static_cast<uint32_t>(j * width + i), c = a + static_cast<uint32_t>(width);
        const std::array<uint32_t, 6> corners{a, c, a + 1, a + 1, c, c + 1};
        std::ranges::copy(corners, mesh.indices.begin() + static_cast<std::ptrdiff_t>((j * grid + i) * 6));
      }
    }
  });
  addShape(scene, "terrain", std::move(mesh));
  addSun(scene, vec3(-0.5f, -0.8f, -0.4f), vec3(1.0f, 0.93f, 0.82f), 3.0f);
  addCamera(scene, "camera", vec3(0.0f, 5.0f, 12.0f), vec3(0.0f, 0.5f, 0.0f), 50.0f);
  scene.environment = defaultSky();
  return scene;
}

/// Key frames every quarter of a turn, for ten seconds, so that the shorter arc is always the meant one.
Channel spin(uint32_t node, vec3 axis, float turnsPerSecond) {
  constexpr float kSeconds = 10.0f;
  Channel channel;
  channel.node = node;
  channel.path = AnimatedPath::Rotation;
  const auto quarters = static_cast<int>(std::ceil(4.0f * kSeconds * std::abs(turnsPerSecond)));
  for (int i = 0; i <= quarters; ++i) {
    const float angle = std::copysign(0.5f * kPi * static_cast<float>(i), turnsPerSecond);
    const quat q = glm::angleAxis(angle, axis);
    channel.times.push_back(static_cast<float>(i) / (4.0f * std::abs(turnsPerSecond)));
    channel.values.insert(channel.values.end(), {q.x, q.y, q.z, q.w});
  }
  return channel;
}

/// Back and forth along a vector, smoothly, two seconds a cycle.
Channel sway(uint32_t node, vec3 centre, vec3 swing) {
  Channel channel;
  channel.node = node;
  channel.path = AnimatedPath::Translation;
  channel.interpolation = Interpolation::CubicSpline;
  for (int i = 0; i <= 10; ++i) {
    const vec3 value = centre + (i % 2 == 0 ? -swing : swing);
    channel.times.push_back(static_cast<float>(i));
    for (const vec3 v : {vec3(0.0f), value, vec3(0.0f)}) channel.values.insert(channel.values.end(), {v.x, v.y, v.z});
  }
  return channel;
}

Scene makeSpinners() {
  Scene scene;
  const std::array<vec3, 6> colours{vec3(0.8f, 0.1f, 0.08f), vec3(0.85f, 0.45f, 0.05f), vec3(0.75f, 0.7f, 0.1f),
                                    vec3(0.1f, 0.6f, 0.15f), vec3(0.08f, 0.3f, 0.75f),  vec3(0.5f, 0.1f, 0.6f)};
  const uint32_t floor = addMaterial(scene, "floor", vec3(0.5f), 0.4f);
  const uint32_t panel = addEmitter(scene, "panel", vec3(8.0f));
  addShape(scene, "floor",
           makeQuad(vec3(-12.0f, 0.0f, -12.0f), vec3(0.0f, 0.0f, 24.0f), vec3(24.0f, 0.0f, 0.0f), floor));
  addShape(scene, "panel", makeQuad(vec3(-3.0f, 6.0f, -2.0f), vec3(6.0f, 0.0f, 0.0f), vec3(0.0f, 0.0f, 3.0f), panel));
  Animation animation;
  animation.name = "spin";
  for (uint32_t i = 0; i < colours.size(); ++i) {
    const uint32_t paint = addMaterial(scene, fmt::format("paint {}", i), colours[i], 0.5f);
    const float x = -5.0f + 2.0f * static_cast<float>(i);
    const float speed = 0.25f * static_cast<float>(1u << (i / 2)) * (i % 2 == 0 ? 1.0f : -1.5f);
    const uint32_t box =
        addShape(scene, fmt::format("box {}", i), makeBox(vec3(0.6f, 0.6f, 0.6f), paint), vec3(x, 1.1f, 1.5f));
    const uint32_t wheel =
        addShape(scene, fmt::format("wheel {}", i), makeWheel(0.9f, 0.25f, 5, paint), vec3(x, 1.2f, -1.5f));
    animation.channels.push_back(spin(box, vec3(0.0f, 1.0f, 0.0f), speed));
    animation.channels.push_back(spin(wheel, vec3(0.0f, 0.0f, 1.0f), speed));
  }
  const uint32_t mover = addShape(scene, "mover", makeBox(vec3(0.3f), addMaterial(scene, "white", vec3(0.8f), 0.6f)));
  animation.channels.push_back(sway(mover, vec3(0.0f, 0.3f, 3.4f), vec3(4.0f, 0.0f, 0.0f)));
  scene.animations.push_back(std::move(animation));
  addCamera(scene, "camera", vec3(0.0f, 3.6f, 10.0f), vec3(0.0f, 1.2f, 0.0f), 45.0f);
  scene.environment = uniformEnvironment(vec3(0.25f, 0.28f, 0.32f));
  return scene;
}

std::string listNames() {
  std::string names;
  for (const auto& [name, line] : builtinNames()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

/// The one parameter that a scene takes: its key, and what it may be.
struct Parameter {
  std::string_view key;
  uint64_t least, most, otherwise;
};

/// The number of "key=N"; the parameter's own without parameters.
Expected<uint64_t> numberOf(std::string_view scene, std::string_view parameters, const Parameter& parameter) {
  if (parameters.empty()) return parameter.otherwise;
  uint64_t count = 0;
  if (parameters.starts_with(parameter.key) && parameters.substr(parameter.key.size()).starts_with('=')) {
    const std::string_view digits = parameters.substr(parameter.key.size() + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error == std::errc() && end == digits.data() + digits.size() && count >= parameter.least &&
        count <= parameter.most) {
      return count;
    }
  }
  return refuse(ExitCode::WrongUsage, "builtin:{}?{}: its one parameter is {}=N, N from {} to {}", scene, parameters,
                parameter.key, parameter.least, parameter.most);
}

}  // namespace

Expected<Scene> makeBuiltin(std::string_view name) {
  const size_t question = name.find('?');
  const std::string_view base = name.substr(0, question);
  const std::string_view parameters = question == std::string_view::npos ? "" : name.substr(question + 1);
  Scene scene;
  if (base == "terrain") {
    const auto triangles = numberOf(base, parameters, {"triangles", 2, kMaxTerrainTriangles, kDefaultTerrainTriangles});
    if (!triangles) return triangles.refusal();
    scene = makeTerrain(*triangles);
  } else if (base == "skinned") {
    const auto vertices = numberOf(base, parameters, {"vertices", 1000, kMaxSkinnedVertices, 20'000});
    if (!vertices) return vertices.refusal();
    scene = makeSkinned(*vertices);
  } else if (base == "furnace") {
    scene = makeFurnace();
  } else if (base == "sphere") {
    scene = makeLitSphere();
  } else if (base == "cornell") {
    scene = makeCornell();
  } else if (base == "spinners") {
    scene = makeSpinners();
  } else {
    return refuse(ExitCode::WrongUsage, "builtin:{}: no such scene; there are {}", name, listNames());
  }
  if (base != "terrain" && base != "skinned" && !parameters.empty()) {
    return refuse(ExitCode::WrongUsage, "builtin:{}: '{}' takes no parameters; there are {}", name, base, listNames());
  }
  scene.name = fmt::format("builtin:{}", name);
  return scene;
}

std::vector<std::pair<std::string, std::string>> builtinNames() {
  return {
      {"furnace", "white spheres in uniform light: every pixel is 1 where no energy is lost"},
      {"sphere", "a Lambert sphere under one directional light, with a radiance known in closed form"},
      {"cornell", "a box with coloured walls, two boxes and a lamp in the ceiling"},
      {"terrain?triangles=N", "a rough height field of N triangles (default 1002528) under sun and sky"},
      {"spinners", "turning boxes and wheels for motion blur"},
      {"skinned?vertices=N", "swaying stalks of N skinned vertices (default 20000), a ball squeezed by a morph target"},
  };
}

}  // namespace tandem::scene
