/* 16-bit floating-point numbers, as bits: fp16 (IEEE 754, 5 bits of exponent and 10 of fraction) and bf16 (the upper
   half of an fp32 number). Kernels on the host and on the emulator convert with the same functions. */
#ifndef HALF_H
#define HALF_H

#include <stdint.h>
#include <string.h>

#include "base.h"

C_BEGIN

/* The nearest number; of two that are equally near, the one with an even last bit. Beyond the largest number: inf. */
uint16_t fp16_of(double v);
uint16_t bf16_of(double v);

static inline float float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Exact, as every fp16 and bf16 number is an fp32 number. The multiplication adds the difference of the biases, 127 -
   15, to the exponent, and turns subnormal numbers into normal ones. */
static inline float fp16_value(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = (uint32_t)(bits & 0x7fff) << 13;
    uint32_t special = rest >= 0x7c00u << 13 ? 0x7f800000u : 0; /* inf and NaN */
    float v = float_of_bits(rest) * 0x1p112f;
    uint32_t scaled;
    memcpy(&scaled, &v, sizeof scaled);
    return float_of_bits(sign | scaled | special);
}

static inline float bf16_value(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

C_END
#endif
