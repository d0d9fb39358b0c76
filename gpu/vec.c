/* Which compilation of k_vec.cu a device's vectors use. */
#include "../src/device.h"

extern const struct vec_ops cpu_vec_f32, cpu_vec_f64, emu_vec_f32, emu_vec_f64, cuda_vec_f32, cuda_vec_f64;

static const struct vec_ops *const tables[][2] = {
    [DEV_CPU] = {&cpu_vec_f32, &cpu_vec_f64},
    [DEV_EMU] = {&emu_vec_f32, &emu_vec_f64},
#ifdef HAVE_CUDA
    [DEV_CUDA] = {&cuda_vec_f32, &cuda_vec_f64},
#else
    [DEV_CUDA] = {NULL, NULL},
#endif
};

const struct vec_ops *vec_ops_of(const struct device *d, enum type real)
{
    return tables[d->kind][real == T_F64];
}
