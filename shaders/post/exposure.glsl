// The histogram's range, for both dispatches of the exposure pass.
#ifndef TANDEM_POST_EXPOSURE_GLSL
#define TANDEM_POST_EXPOSURE_GLSL

const float kExposureMinLog2 = -16.0;
const float kExposureBinsPerStop = 8.0;

#endif
