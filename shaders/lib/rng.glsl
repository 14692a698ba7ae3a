// Random numbers that depend on pixel, frame, sample and seed alone: an Owen-scrambled (0,2)-sequence, padded pair by
// pair. Burley 2020, "Practical Hash-based Owen Scrambling" (JCGT 9:4), sections 3 and 4; the hash behind seeds is
// PCG's output function (Jarzynski, Olano 2020, "Hash Functions for GPU Rendering").
#ifndef TANDEM_SHADERS_LIB_RNG_GLSL
#define TANDEM_SHADERS_LIB_RNG_GLSL

uint hash_u32(uint value) {
  const uint state = value * 747796405u + 2891336453u;
  const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

uint hash_combine(uint a, uint b) { return hash_u32(a ^ hash_u32(b)); }

/// One pixel's sequence: `key` names pixel, frame and seed; `index` is the sample; `pair` counts the pairs drawn so
/// far.
struct Random {
  uint key;
  uint index;
  uint pair;
};

Random random_begin(uvec2 pixel, uint frame, uint seed, uint index) {
  const uint key = hash_combine(pixel.x, hash_combine(pixel.y, hash_combine(frame, seed)));
  return Random(key, index, 0u);
}

/// Laine and Karras' permutation of bit-reversed integers: each bit depends on itself and the bits below it alone.
/// Burley 2020, listing 2.
uint random_permute(uint x, uint seed) {
  x += seed;
  x ^= x * 0x6c50b47cu;
  x ^= x * 0xb82f1e52u;
  x ^= x * 0xc7afe638u;
  x ^= x * 0x8d22f6e6u;
  return x;
}

/// Second dimension of Sobol's sequence, bit-reversed: Pascal's triangle modulo 2 times the index, as five steps (its
/// Kronecker factors).
uint random_sobol1_reversed(uint index) {
  index ^= (index >> 1u) & 0x55555555u;
  index ^= (index >> 2u) & 0x33333333u;
  index ^= (index >> 4u) & 0x0f0f0f0fu;
  index ^= (index >> 8u) & 0x00ff00ffu;
  index ^= index >> 16u;
  return index;
}

/// The next pair as 32-bit integers. Over the samples of a pixel each pair is a (0,2)-sequence of its own.
uvec2 random_bits2(inout Random random) {
  const uint seed = hash_combine(random.key, random.pair++);
  const uint index = bitfieldReverse(random_permute(bitfieldReverse(random.index), seed));
  return uvec2(bitfieldReverse(random_permute(index, hash_u32(seed ^ 0x2c1b3c6du))),
               bitfieldReverse(random_permute(random_sobol1_reversed(index), hash_u32(seed ^ 0x297a2d39u))));
}

/// [0, 1), all 24 bits of a float.
float unit_float(uint bits) { return float(bits >> 8u) * 5.9604645e-8; }

vec2 random_pair(inout Random random) {
  const uvec2 bits = random_bits2(random);
  return vec2(unit_float(bits.x), unit_float(bits.y));
}

#endif
