/* The tables of operations for solvers, selected by the kind of device and the precision. */
#include "halo.h"
#include "machine/amg_ops.h"
#include "machine/amg_setup_ops.h"
#include "machine/cluster_ops.h"
#include "machine/device.h"
#include "machine/level_ops.h"
#include "machine/lu_ops.h"
#include "machine/vec_ops.h"

#ifdef HAVE_CUDA
#define ON_CUDA(ops, id)                   \
    {                                      \
        &cuda_##id##_f32, &cuda_##id##_f64 \
    }
#define ON_CUDA_PAIRS(id)                                                      \
    {                                                                          \
        &cuda_##id##_f32, &cuda_##id##_f64, &cuda_##id##_c32, &cuda_##id##_c64 \
    }
#else
#define ON_CUDA(ops, id) \
    {                    \
        NULL, NULL       \
    }
#define ON_CUDA_PAIRS(id)      \
    {                          \
        NULL, NULL, NULL, NULL \
    }
#endif

/* The tables of a device with members (gpu/multi/); ALONE: it has none. passes.c has the tables of
   the solvers' passes. */
#define TOGETHER_PAIRS(id)                                                         \
    {                                                                              \
        &multi_##id##_f32, &multi_##id##_f64, &multi_##id##_c32, &multi_##id##_c64 \
    }
#define ALONE(id) \
    {             \
        NULL      \
    }

/* Defines the function that returns a table of operations for a device and a precision. */
#define TABLES(ops, of, id, with)                                                           \
    extern const struct ops cpu_##id##_f32, cpu_##id##_f64, emu_##id##_f32, emu_##id##_f64; \
    extern const struct ops cuda_##id##_f32, cuda_##id##_f64;                               \
    const struct ops *ops##_##of(const struct device *d, enum type real)                    \
    {                                                                                       \
        static const struct ops *const tables[][2] = {                                      \
            [DEV_CPU] = {&cpu_##id##_f32, &cpu_##id##_f64},                                 \
            [DEV_EMU] = {&emu_##id##_f32, &emu_##id##_f64},                                 \
            [DEV_CUDA] = ON_CUDA(ops, id),                                                  \
        };                                                                                  \
        static const struct ops *const together[2] = with(id);                              \
        return d->members ? together[real == T_F64] : tables[d->kind][real == T_F64];       \
    }

/* The same for operations that also exist for pairs: of T_F32, T_F64, T_C32, T_C64. */
#define PAIR_TABLES(ops, of, id, with)                                                          \
    extern const struct ops cpu_##id##_f32, cpu_##id##_f64, emu_##id##_f32, emu_##id##_f64;     \
    extern const struct ops cpu_##id##_c32, cpu_##id##_c64, emu_##id##_c32, emu_##id##_c64;     \
    extern const struct ops cuda_##id##_f32, cuda_##id##_f64, cuda_##id##_c32, cuda_##id##_c64; \
    extern const struct ops multi_##id##_f32, multi_##id##_f64;                                 \
    extern const struct ops multi_##id##_c32, multi_##id##_c64;                                 \
    const struct ops *ops##_##of(const struct device *d, enum type type)                        \
    {                                                                                           \
        static const struct ops *const tables[][4] = {                                          \
            [DEV_CPU] = {&cpu_##id##_f32, &cpu_##id##_f64, &cpu_##id##_c32, &cpu_##id##_c64},   \
            [DEV_EMU] = {&emu_##id##_f32, &emu_##id##_f64, &emu_##id##_c32, &emu_##id##_c64},   \
            [DEV_CUDA] = ON_CUDA_PAIRS(id),                                                     \
        };                                                                                      \
        static const struct ops *const together[4] = with(id);                                  \
        return d->members ? together[type] : tables[d->kind][type];                             \
    }

PAIR_TABLES(vec_ops, of, vec, TOGETHER_PAIRS)
PAIR_TABLES(sweep_ops, of, vec_sweep, ALONE)
PAIR_TABLES(pre_ops, of, vec_pre, ALONE)
PAIR_TABLES(tri_ops, of, vec_tri, ALONE)
PAIR_TABLES(lu_ops, of, vec_lu, ALONE)
TABLES(amg_ops, of, vec_amg, ALONE)
PAIR_TABLES(halo_ops, of, vec_halo, ALONE)

/* The tables whose sums the host adds. */
PAIR_TABLES(vec_ops, host_sums, vec_parts, ALONE)
PAIR_TABLES(sweep_ops, host_sums, vec_parts_sweep, ALONE)

TABLES(vec_ops, by_column, vec_columns, ALONE)

extern const struct amg_setup_ops emu_vec_amg_setup_f32, emu_vec_amg_setup_f64, cuda_vec_amg_setup_f32,
    cuda_vec_amg_setup_f64;
const struct amg_setup_ops *amg_setup_ops_of(const struct device *d, enum type real)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return real == T_F64 ? &cuda_vec_amg_setup_f64 : &cuda_vec_amg_setup_f32;
#endif
    if (d->kind != DEV_EMU) return NULL;
    return real == T_F64 ? &emu_vec_amg_setup_f64 : &emu_vec_amg_setup_f32;
}

/* The device cpu has no clusters, and a cluster is on one device. */
extern const struct cluster_ops emu_vec_cluster, cuda_vec_cluster;
const struct cluster_ops *cluster_ops_of(const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return &cuda_vec_cluster;
#endif
    return d->kind == DEV_EMU ? &emu_vec_cluster : NULL;
}

struct lu_hook lu_hook;
