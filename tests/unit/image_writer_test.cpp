#include "output/image_writer.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFloatAttribute.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfIntAttribute.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/packing.hpp>
#include <random>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include <stb_image.h>

namespace tandem::output {
namespace {

namespace fs = std::filesystem;

/// An empty folder of its own for each test.
class ImageWriter : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("tandem_{}_{}", info->name(), ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t filesIn() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

/// What `action` throws must be an AdverseError; its message.
template <class Action>
std::string failureOf(Action&& action) {
  try {
    action();
  } catch (const AdverseError& error) {
    return error.what();
  }
  ADD_FAILURE() << "did not fail";
  return "";
}

bool says(const std::string& message, std::string_view words) { return message.find(words) != std::string::npos; }

/// A disk on which only `room` bytes are left.
FileOps fullAfter(size_t room) {
  auto left = std::make_shared<size_t>(room);
  FileOps ops = FileOps::system();
  ops.write = [left](int file, const void* bytes, size_t count) -> ssize_t {
    if (*left == 0) {
      errno = ENOSPC;
      return -1;
    }
    const ssize_t written = ::write(file, bytes, std::min(count, *left));
    if (written > 0) *left -= static_cast<size_t>(written);
    return written;
  };
  return ops;
}

/// Planes of random bits, so that no two channels or pixels can be mixed up unseen. Halves are finite.
struct Planes {
  explicit Planes(Extent extent) : size(extent) {
    std::mt19937 random(7);
    const auto halves = [&] { return static_cast<uint32_t>(random()) & 0xbbffbbffu; };
    for (uint64_t i = 0; i < size.pixels(); ++i) {
      radiance.push_back({{halves(), halves()}});
      albedo.push_back({static_cast<uint32_t>(random())});
      normal.push_back({glm::packSnorm2x16(vec2(float(i % 17) / 8.0f - 1.0f, float(i % 12) / 5.5f - 1.0f))});
      depth.push_back({static_cast<float>(random()) * 1e-3f});
      motion.push_back({halves()});
    }
    normal[0].oct = 0;
  }
  ExrImage image() const {
    ExrImage image;
    image.size = size;
    image.radiance = radiance;
    return image;
  }
  Extent size;
  std::vector<shared::RadianceTexel> radiance;
  std::vector<shared::AlbedoTexel> albedo;
  std::vector<shared::NormalTexel> normal;
  std::vector<shared::DepthTexel> depth;
  std::vector<shared::MotionTexel> motion;
};

template <class T>
std::vector<T> readChannel(const std::string& path, const char* name, Imf::PixelType type) {
  Imf::InputFile file(path.c_str());
  const Imath::Box2i window = file.header().dataWindow();
  const size_t width = static_cast<size_t>(window.max.x + 1), height = static_cast<size_t>(window.max.y + 1);
  const Imf::Channel* channel = file.header().channels().findChannel(name);
  if (channel == nullptr || channel->type != type) {
    ADD_FAILURE() << "channel " << name;
    return std::vector<T>(width * height);
  }
  std::vector<T> values(width * height);
  Imf::FrameBuffer buffer;
  buffer.insert(name, Imf::Slice(type, reinterpret_cast<char*>(values.data()), sizeof(T), sizeof(T) * width));
  file.setFrameBuffer(buffer);
  file.readPixels(window.min.y, window.max.y);
  return values;
}

TEST_F(ImageWriter, ExrReturnsTheBitsOfEveryPixelUnderEveryCompression) {
  const Planes planes({67, 41});
  for (const Compression compression : {Compression::Zip, Compression::Piz, Compression::None}) {
    ExrImage image = planes.image();
    image.compression = compression;
    writeExr(path("a.exr"), image, Existing::Replace);
    const auto r = readChannel<uint16_t>(path("a.exr"), "R", Imf::HALF);
    const auto g = readChannel<uint16_t>(path("a.exr"), "G", Imf::HALF);
    const auto b = readChannel<uint16_t>(path("a.exr"), "B", Imf::HALF);
    const auto a = readChannel<uint16_t>(path("a.exr"), "A", Imf::HALF);
    for (size_t i = 0; i < planes.radiance.size(); ++i) {
      ASSERT_EQ(r[i] | uint32_t{g[i]} << 16, planes.radiance[i].rgba.x) << i;
      ASSERT_EQ(b[i] | uint32_t{a[i]} << 16, planes.radiance[i].rgba.y) << i;
    }
  }
  const Imf::Header header = Imf::InputFile(path("a.exr").c_str()).header();
  EXPECT_EQ(header.compression(), Imf::NO_COMPRESSION);
  EXPECT_EQ(header.displayWindow(), Imath::Box2i({0, 0}, {66, 40}));
  EXPECT_EQ(filesIn(), 1u);
}

TEST_F(ImageWriter, ExrCarriesThePlanesBesideThePicture) {
  const Planes planes({20, 10});
  ExrImage image = planes.image();
  image.coverage = false;
  image.albedo = planes.albedo;
  image.normal = planes.normal;
  image.depth = planes.depth;
  image.motion = planes.motion;
  writeExr(path("a.exr"), image, Existing::Keep);
  EXPECT_EQ(Imf::InputFile(path("a.exr").c_str()).header().channels().findChannel("A"), nullptr);
  const auto green = readChannel<uint16_t>(path("a.exr"), "albedo.G", Imf::HALF);
  const auto depth = readChannel<float>(path("a.exr"), "depth.Z", Imf::FLOAT);
  const auto motionX = readChannel<uint16_t>(path("a.exr"), "motion.X", Imf::HALF);
  const auto motionY = readChannel<uint16_t>(path("a.exr"), "motion.Y", Imf::HALF);
  const auto nx = readChannel<uint16_t>(path("a.exr"), "normal.X", Imf::HALF);
  const auto ny = readChannel<uint16_t>(path("a.exr"), "normal.Y", Imf::HALF);
  const auto nz = readChannel<uint16_t>(path("a.exr"), "normal.Z", Imf::HALF);
  for (size_t i = 0; i < planes.depth.size(); ++i) {
    EXPECT_NEAR(glm::unpackHalf1x16(green[i]), ((planes.albedo[i].rgba >> 8) & 255) / 255.0, 1.0 / 2048) << i;
    EXPECT_EQ(depth[i], planes.depth[i].metres) << i;
    EXPECT_EQ(motionX[i] | uint32_t{motionY[i]} << 16, planes.motion[i].xy) << i;
    const vec3 n(glm::unpackHalf1x16(nx[i]), glm::unpackHalf1x16(ny[i]), glm::unpackHalf1x16(nz[i]));
    EXPECT_NEAR(glm::length(n), i == 0 ? 0.0f : 1.0f, 2e-3f) << i;
    // The octahedral map forward: project on |x| + |y| + |z| = 1, fold the lower half over the upper's corners.
    const vec3 p = n / std::max(std::abs(n.x) + std::abs(n.y) + std::abs(n.z), 1e-6f);
    const vec2 folded((1 - std::abs(p.y)) * (p.x >= 0 ? 1 : -1), (1 - std::abs(p.x)) * (p.y >= 0 ? 1 : -1));
    const vec2 forward = p.z >= 0 ? vec2(p) : folded;
    const vec2 stored = glm::unpackSnorm2x16(planes.normal[i].oct);
    // On the square's border two points mean one direction.
    if (std::max(std::abs(stored.x), std::abs(stored.y)) > 0.99f) continue;
    EXPECT_NEAR(forward.x, stored.x, 4e-3f) << i;
    EXPECT_NEAR(forward.y, stored.y, 4e-3f) << i;
  }
}

TEST_F(ImageWriter, ExrHeaderSaysHowThePictureWasMade) {
  const Planes planes({16, 9});
  ExrImage image = planes.image();
  ExrMetadata& data = image.metadata;
  data.frame = 1042;
  data.exposureEv = -1.25f;
  data.framesPerSecondNumerator = 24000;
  data.framesPerSecondDenominator = 1001;
  data.shutterSeconds = 1.0f / 48;
  data.software = "Tandem test";
  data.more = {{"tandem.seed", "7"}};
  writeExr(path("a.exr"), image, Existing::Keep);
  const Imf::Header header = Imf::InputFile(path("a.exr").c_str()).header();
  EXPECT_EQ(Imf::framesPerSecond(header).n, 24000);
  EXPECT_EQ(Imf::framesPerSecond(header).d, 1001u);
  EXPECT_FLOAT_EQ(Imf::expTime(header), 1.0f / 48);
  EXPECT_EQ(header.typedAttribute<Imf::FloatAttribute>("ev").value(), -1.25f);
  EXPECT_EQ(header.typedAttribute<Imf::IntAttribute>("frame").value(), 1042);
  EXPECT_EQ(header.typedAttribute<Imf::StringAttribute>("software").value(), "Tandem test");
  EXPECT_EQ(header.typedAttribute<Imf::StringAttribute>("tandem.seed").value(), "7");
  EXPECT_EQ(header.pixelAspectRatio(), 1.0f);
  EXPECT_EQ(header.compression(), Imf::ZIP_COMPRESSION);
  // ITU-R BT.709: primaries and D65.
  const Imf::Chromaticities chroma = Imf::chromaticities(header);
  EXPECT_EQ(chroma.red, Imath::V2f(0.64f, 0.33f));
  EXPECT_EQ(chroma.green, Imath::V2f(0.30f, 0.60f));
  EXPECT_EQ(chroma.blue, Imath::V2f(0.15f, 0.06f));
  EXPECT_EQ(chroma.white, Imath::V2f(0.3127f, 0.3290f));
  // YYYY:MM:DD hh:mm:ss
  const std::string date = Imf::capDate(header);
  ASSERT_EQ(date.size(), 19u);
  for (size_t i = 0; i < date.size(); ++i) {
    const char separator = i == 4 || i == 7 || i == 13 || i == 16 ? ':' : ' ';
    if (i == 10 || separator == ':')
      EXPECT_EQ(date[i], separator) << date;
    else
      EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(date[i]))) << date;
  }
}

TEST_F(ImageWriter, CameraMatricesAreInTheConventionOfOpenExr) {
  const Planes planes({160, 90});
  ExrImage image = planes.image();
  // At (1, 2, 3), looking at the origin's side of the world along -X: right is -Z.
  const vec3 eye(1, 2, 3);
  image.metadata.camera.worldToView = glm::lookAtRH(eye, eye + vec3(-1, 0, 0), vec3(0, 1, 0));
  image.metadata.camera.viewToClip = glm::perspectiveRH_ZO(glm::radians(90.0f), 16.0f / 9.0f, 0.1f, 100.0f);
  writeExr(path("a.exr"), image, Existing::Keep);
  const Imf::Header header = Imf::InputFile(path("a.exr").c_str()).header();
  const auto camera = [&](Imath::V3f p) { return p * Imf::worldToCamera(header); };
  EXPECT_TRUE(camera({1, 2, 3}).equalWithAbsError({0, 0, 0}, 1e-5f));
  EXPECT_TRUE(camera({-4, 2, 3}).equalWithAbsError({0, 0, 5}, 1e-5f)) << "in front is +z";
  EXPECT_TRUE(camera({1, 3, 3}).equalWithAbsError({0, 1, 0}, 1e-5f)) << "up is +y";
  EXPECT_TRUE(camera({1, 2, 2}).equalWithAbsError({1, 0, 0}, 1e-5f)) << "right is +x";
  // 90 degrees upright: at distance 9 the picture's upper edge is 9 up, its right edge 16 to the right.
  const auto ndc = [&](Imath::V3f p) { return p * Imf::worldToNDC(header); };
  EXPECT_NEAR(ndc({-8, 2, 3}).x, 0.5f, 1e-5f);
  EXPECT_NEAR(ndc({-8, 2, 3}).y, 0.5f, 1e-5f);
  EXPECT_NEAR(ndc({-8, 11, 19}).x, 0.0f, 1e-5f);
  EXPECT_NEAR(ndc({-8, 11, 19}).y, 0.0f, 1e-5f);
  EXPECT_NEAR(ndc({-8, -7, -13}).x, 1.0f, 1e-5f);
  EXPECT_NEAR(ndc({-8, -7, -13}).y, 1.0f, 1e-5f);
}

TEST_F(ImageWriter, PngReturnsTheBytesOfEveryPixel) {
  const Planes planes({61, 33});
  std::vector<uint32_t> pixels;
  for (const shared::AlbedoTexel& texel : planes.albedo) pixels.push_back(texel.rgba | 0xff000000u);
  writePng(path("a.png"), planes.size, pixels, Existing::Keep);
  int width = 0, height = 0, channels = 0;
  unsigned char* read = stbi_load(path("a.png").c_str(), &width, &height, &channels, 4);
  ASSERT_NE(read, nullptr) << stbi_failure_reason();
  EXPECT_EQ(width, 61);
  EXPECT_EQ(height, 33);
  EXPECT_EQ(channels, 3);
  EXPECT_EQ(std::memcmp(read, pixels.data(), 4 * pixels.size()), 0);
  stbi_image_free(read);
}

TEST_F(ImageWriter, ADiskFullAtAnyByteLeavesNothingBehind) {
  const Planes planes({9, 5});
  std::vector<uint32_t> pixels(planes.size.pixels(), 0xff336699u);
  writePng(path("whole.png"), planes.size, pixels, Existing::Keep);
  writeExr(path("whole.exr"), planes.image(), Existing::Keep);
  for (const char* name : {"whole.png", "whole.exr"}) {
    const size_t size = fs::file_size(path(name));
    const bool exr = std::string_view(name) == "whole.exr";
    for (size_t room = 0; room < size; ++room) {
      const std::string message = failureOf([&] {
        if (exr)
          writeExr(path("a"), planes.image(), Existing::Keep, fullAfter(room));
        else
          writePng(path("a"), planes.size, pixels, Existing::Keep, fullAfter(room));
      });
      ASSERT_TRUE(says(message, path("a")) && says(message, "No space left")) << message;
      ASSERT_EQ(filesIn(), 2u) << "after " << room << " bytes";
    }
  }
  writePng(path("a"), planes.size, pixels, Existing::Keep, fullAfter(fs::file_size(path("whole.png"))));
  EXPECT_EQ(contentOf(path("a")), contentOf(path("whole.png")));
}

TEST_F(ImageWriter, AFileLimitOfTheSystemIsNoticed) {
  // A real refusal by the kernel: the limit on file size, whose signal is ignored so that write() answers EFBIG.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = before;
  limit.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string text(1001, 'x');
  const std::string message = failureOf([&] { writeWholeFile(path("a"), bytesOf(text), Existing::Keep); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_TRUE(says(message, path("a")) && says(message, "File too large")) << message;
  EXPECT_EQ(filesIn(), 0u);
}

TEST_F(ImageWriter, FailuresOfFsyncAndCloseLeaveNothingBehind) {
  FileOps ops = FileOps::system();
  ops.fsync = [](int) { return errno = EIO, -1; };
  EXPECT_TRUE(says(failureOf([&] { writeWholeFile(path("a"), bytesOf("x"), Existing::Keep, ops); }), "fsync"));
  EXPECT_EQ(filesIn(), 0u);
  ops = FileOps::system();
  ops.close = [](int file) { return ::close(file), errno = EDQUOT, -1; };
  EXPECT_TRUE(says(failureOf([&] { writeWholeFile(path("a"), bytesOf("x"), Existing::Keep, ops); }), "close"));
  EXPECT_EQ(filesIn(), 0u);
}

TEST_F(ImageWriter, ShortAndInterruptedWritesAreContinued) {
  FileOps ops = FileOps::system();
  int calls = 0;
  ops.write = [&](int file, const void* bytes, size_t count) -> ssize_t {
    if (++calls % 3 == 0) return errno = EINTR, -1;
    return ::write(file, bytes, std::min<size_t>(count, 5));
  };
  writeWholeFile(path("a"), bytesOf("the whole of a longer text"), Existing::Keep, ops);
  EXPECT_EQ(contentOf(path("a")), "the whole of a longer text");
}

TEST_F(ImageWriter, AnExistingFileIsKeptOrReplacedWhole) {
  writeWholeFile(path("a"), bytesOf("old"), Existing::Keep);
  EXPECT_TRUE(says(failureOf([&] { writeWholeFile(path("a"), bytesOf("new"), Existing::Keep); }), "--overwrite"));
  EXPECT_EQ(contentOf(path("a")), "old");
  failureOf([&] { writeWholeFile(path("a"), bytesOf("new"), Existing::Replace, fullAfter(1)); });
  EXPECT_EQ(contentOf(path("a")), "old");
  writeWholeFile(path("a"), bytesOf("new"), Existing::Replace);
  EXPECT_EQ(contentOf(path("a")), "new");
  EXPECT_EQ(filesIn(), 1u);
}

TEST_F(ImageWriter, TargetsAreTriedBeforeTheWork) {
  EXPECT_FALSE(prepareTarget(path("new/folder/a.exr"), Existing::Keep));
  EXPECT_TRUE(fs::is_directory(folder_ / "new/folder"));
  EXPECT_TRUE(fs::is_empty(folder_ / "new/folder"));

  writeWholeFile(path("a"), bytesOf("old"), Existing::Keep);
  const std::optional<Refusal> exists = prepareTarget(path("a"), Existing::Keep);
  ASSERT_TRUE(exists);
  EXPECT_EQ(exists->exit, ExitCode::WrongUsage);
  EXPECT_TRUE(says(exists->message, "--overwrite")) << exists->message;
  EXPECT_FALSE(prepareTarget(path("a"), Existing::Replace));
  EXPECT_EQ(contentOf(path("a")), "old");

  const std::optional<Refusal> underFile = prepareTarget(path("a/b.exr"), Existing::Keep);
  ASSERT_TRUE(underFile);
  EXPECT_EQ(underFile->exit, ExitCode::Failed);
  // Nobody, root neither, makes files in /proc.
  const std::optional<Refusal> unwritable = prepareTarget("/proc/a.exr", Existing::Keep);
  ASSERT_TRUE(unwritable);
  EXPECT_EQ(unwritable->exit, ExitCode::Failed);
  EXPECT_TRUE(says(unwritable->message, "/proc/a.exr")) << unwritable->message;
  ASSERT_TRUE(prepareTarget(folder_.string(), Existing::Replace));
}

}  // namespace
}  // namespace tandem::output
