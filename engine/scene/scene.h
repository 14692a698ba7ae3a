// The scene as plain data, read from a file or made in code, before any GPU has seen it. Units and axes: base/math.h.
// Owner: whoever loaded it; immutable while rendered. Not thread-safe for writing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/math.h"
#include "shaders/shared/deform.h"

namespace tandem::scene {

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// One decoded picture. `pixels` holds width * height * 4 bytes, RGBA, row 0 at the top.
struct Image {
  std::string name;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> pixels;
};

enum class Wrap : uint8_t { Repeat, MirroredRepeat, ClampToEdge };

/// An image with a way of sampling it. The same image may serve as colour (sRGB) and as data (linear): the use decides.
struct Texture {
  uint32_t image = kNone;
  Wrap wrapU = Wrap::Repeat;
  Wrap wrapV = Wrap::Repeat;
  bool linearFilter = true;
};

/// A material's reference to a texture: which, with which texture coordinate set, moved by KHR_texture_transform
/// (uv' = offset + R(rotation) * scale * uv, with R * (u, v) = (cos u + sin v, -sin u + cos v): anticlockwise, v
/// running down).
struct TextureUse {
  uint32_t texture = kNone;
  uint32_t uvSet = 0;
  vec2 offset{0.0f};
  vec2 scale{1.0f};
  float rotation = 0.0f;
};

enum class AlphaMode : uint8_t { Opaque, Mask, Blend };

/// glTF 2.0 metallic-roughness. Factors are linear; base colour and emissive textures are sRGB, the others data.
struct Material {
  std::string name;
  vec4 baseColor{1.0f};
  float metallic = 1.0f;
  float roughness = 1.0f;  // perceptual; alpha = roughness^2
  vec3 emissive{0.0f};     // radiance factor, W/(sr m^2) on the scene's scale; emissive_strength is multiplied in
  float normalScale = 1.0f;
  float ior = 1.5f;          // KHR_materials_ior
  float specular = 1.0f;     // KHR_materials_specular, factor
  vec3 specularColor{1.0f};  // KHR_materials_specular, colour factor
  AlphaMode alphaMode = AlphaMode::Opaque;
  float alphaCutoff = 0.5f;  // for Mask
  bool doubleSided = false;  // the tracer culls no back faces; it turns the shading normal to the ray
  bool unlit = false;        // KHR_materials_unlit
  TextureUse baseColorTexture;
  TextureUse metallicRoughnessTexture;  // G roughness, B metallic
  TextureUse normalTexture;             // tangent space
  TextureUse emissiveTexture;
  TextureUse specularTexture;       // KHR_materials_specular: alpha times `specular`, data
  TextureUse specularColorTexture;  // KHR_materials_specular: RGB times `specularColor`, sRGB
};

/// What pulls at the vertices of a skinned mesh. Both arrays: `influences` entries a vertex, empty where there are
/// none.
struct SkinBinding {
  uint32_t influences = 0;       // a vertex: 0, 4 or 8
  std::vector<uint16_t> joints;  // places in the skin's list of joints
  std::vector<float> weights;    // >= 0; those of a vertex sum to 1
  uint32_t leastJoints = 0;      // a skin with fewer cannot be worn
};

/// Shapes that a mesh can be pulled towards, as what they change, vertex by vertex.
struct MorphTargets {
  uint32_t count = 0;
  std::vector<uint32_t> starts;            // per vertex its first delta, and the end; empty where `count` is 0
  std::vector<shared::MorphDelta> deltas;  // of a vertex in the order of the targets; those that are 0 are left out
};

/// One glTF primitive, as triangles. All attribute arrays are empty or as long as `positions`; `indices` is a triangle
/// list whose values are < positions.size(). `normals` is never empty after loading (made when missing). Object space.
struct Mesh {
  std::string name;
  uint32_t material = kNone;  // kNone: glTF's default material
  std::vector<vec3> positions;
  std::vector<vec3> normals;   // unit length
  std::vector<vec4> tangents;  // xyz unit, w = handedness (+1 or -1); empty without a normal map
  std::vector<vec2> uv0;
  std::vector<vec2> uv1;
  std::vector<vec4> colors;  // linear, multiplies the base colour
  std::vector<uint32_t> indices;
  SkinBinding binding;
  MorphTargets morphs;
  bool flat = false;  // normals are the triangles' own, and no two share a vertex: they follow when the mesh deforms
};

/// Joints, glTF 2.0 section 3.7.3: a bound vertex goes where world(joint) * inverseBind brings it, whatever the place
/// of its own node.
struct Skin {
  std::string name;
  std::vector<uint32_t> joints;   // nodes; kNone: one that is not shown, which stays at the origin
  std::vector<mat4> inverseBind;  // one for each joint
};

enum class LightKind : uint8_t { Directional, Point, Spot };

/// KHR_lights_punctual. Shines from its node's origin along the node's -Z.
struct Light {
  std::string name;
  LightKind kind = LightKind::Point;
  vec3 color{1.0f};        // linear
  float intensity = 1.0f;  // candela (point, spot), lux (directional)
  float range = 0.0f;      // metres; 0 = no limit
  float innerCone = 0.0f;  // radians, half angle
  float outerCone = 0.7853982f;
};

/// A camera's lens; its place comes from its node.
struct Lens {
  std::string name;
  bool orthographic = false;
  float yfov = 0.8f;    // vertical field of view, radians (perspective)
  float aspect = 0.0f;  // width / height that the author framed for; 0 = any
  float ymag = 1.0f;    // half height in metres (orthographic)
  float xmag = 1.0f;
};

/// A node of the scene tree. `parent` always has a smaller index (or is kNone), so one pass in index order poses the
/// tree.
struct Node {
  std::string name;
  uint32_t parent = kNone;
  vec3 translation{0.0f};
  quat rotation{1.0f, 0.0f, 0.0f, 0.0f};
  vec3 scale{1.0f};
  mat4 matrix{1.0f};  // used instead of translation/rotation/scale when `hasMatrix`
  bool hasMatrix = false;
  std::vector<uint32_t> meshes;
  uint32_t skin = kNone;       // index into Scene::skins; worn by those of `meshes` that are bound
  std::vector<float> weights;  // of its meshes' morph targets; those that are missing are 0
  uint32_t lens = kNone;       // index into Scene::lenses
  uint32_t light = kNone;      // index into Scene::lights
};

enum class Interpolation : uint8_t { Step, Linear, CubicSpline };
enum class AnimatedPath : uint8_t { Translation, Rotation, Scale, Weights };

/// Key frames of one property of one node. `values`: 3 or 4 floats a key (quaternions x, y, z, w), or as many as the
/// node has weights; CubicSpline holds in-tangent, value, out-tangent for each key.
struct Channel {
  uint32_t node = kNone;
  AnimatedPath path = AnimatedPath::Translation;
  Interpolation interpolation = Interpolation::Linear;
  std::vector<float> times;  // seconds, strictly increasing
  std::vector<float> values;
};

struct Animation {
  std::string name;
  std::vector<Channel> channels;
};

/// An equirectangular environment: radiance per texel, RGB floats, row 0 = straight up (+Y). Direction d has
/// u = atan2(d.z, d.x) / 2pi + 0.5 and v = 0.5 - asin(d.y) / pi from the top row.
struct Environment {
  std::string name;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<vec3> radiance;  // finite, >= 0
};

/// Everything that can be rendered. Indices are checked by whoever makes a Scene: a renderer may trust them.
struct Scene {
  std::string name;  // file name or builtin name, for messages
  std::vector<Image> images;
  std::vector<Texture> textures;
  std::vector<Material> materials;
  std::vector<Mesh> meshes;
  std::vector<Light> lights;
  std::vector<Lens> lenses;
  std::vector<Skin> skins;
  std::vector<Node> nodes;
  std::vector<Animation> animations;
  Environment environment;  // empty: black
};

}  // namespace tandem::scene
