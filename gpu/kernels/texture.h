/* Textures in the kernel dialect: only one-dimensional, read-only textures over an array in linear memory.

   A kernel takes a texture<T> t and reads texel<T>(t, i). Its launch calls texture_bind, which makes a texture at the
   first use of an array and keeps the texture with the matrix, and passes TEXTURE_OF(name, role, bound, p, n, T). The
   kernel's entry has .release = textures_free. On the emulator, a texture is the array itself. */
#ifndef TEXTURE_H
#define TEXTURE_H

#include "base/precision.h"
#include "gpu/dialect.h"

#include "base/err.h"
#include "base/mem.h"

/* TEXTURE_MAX: the maximum number of elements of an array that a texture holds on any GPU. A texture has up to 2^27
   texels, and TEXTURE_BEFORE of these may lie before the array, because a texture begins at an aligned address. */
enum { TEXTURE_BEFORE = 128, TEXTURE_MAX = (1 << 27) - TEXTURE_BEFORE };

namespace KERNEL_SPACE
{

/* A texture over the array at p, in a list of the textures that a kernel keeps with a matrix. */
struct bound {
    struct bound *next;
    const void *p;
    uint64_t handle;
    int first; /* the texel that holds element 0 */
};

#ifdef __CUDACC__
template <typename T> struct texture {
    cudaTextureObject_t of;
    int first;
};
#define TEXTURE_OF(name, role, bound, p, n, T) (texture<T>{(bound)->handle, (bound)->first})

/* Texel i of t. */
template <typename T> __device__ T fetch(cudaTextureObject_t t, int i);

template <> __device__ inline float fetch<float>(cudaTextureObject_t t, int i)
{
    return tex1Dfetch<float>(t, i);
}

/* Textures cannot hold doubles: fetch two halves of 4 bytes. */
template <> __device__ inline double fetch<double>(cudaTextureObject_t t, int i)
{
    int2 halves = tex1Dfetch<int2>(t, i);
    return __hiloint2double(halves.y, halves.x);
}

template <> __device__ inline cplx<float> fetch<cplx<float>>(cudaTextureObject_t t, int i)
{
    return complex_of(tex1Dfetch<float2>(t, i));
}

template <> __device__ inline cplx<double> fetch<cplx<double>>(cudaTextureObject_t t, int i)
{
    int4 quarters = tex1Dfetch<int4>(t, i);
    return {__hiloint2double(quarters.y, quarters.x), __hiloint2double(quarters.w, quarters.z)};
}

/* Element i of the array that t was bound to. */
template <typename T> __device__ T texel(texture<T> t, int i)
{
    return fetch<T>(t.of, t.first + i);
}

/* Like texel of a texture, but for plain read-only memory, so that a kernel has the same source for both. */
template <typename T> __device__ T texel(const T *p, int i)
{
    return __ldg(p + i);
}

static inline cudaChannelFormatDesc texture_channels(enum type type)
{
    switch (type) {
    case T_F32:
        return cudaCreateChannelDesc<float>();
    case T_C32:
        return cudaCreateChannelDesc<float2>();
    case T_C64:
        return cudaCreateChannelDesc<int4>();
    default:
        return cudaCreateChannelDesc<int2>();
    }
}

/* Make the texture of b over b->p[0..n-1], n > 0. It begins at the aligned address at or before b->p. */
static inline bool texture_new(const struct device *d, struct bound *b, int64_t n, enum type type, struct err *e)
{
    int device = 0, align = 0;
    cudaTextureObject_t t;
    cudaResourceDesc memory = {};
    cudaTextureDesc access = {};
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&align, cudaDevAttrTextureAlignment, device);
    uintptr_t at = reinterpret_cast<uintptr_t>(b->p), before = align ? at % (uintptr_t)align : 0;
    b->first = (int)(before / type_size(type));
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = reinterpret_cast<void *>(at - before);
    memory.res.linear.desc = texture_channels(type);
    memory.res.linear.sizeInBytes = (b->first + n) * type_size(type);
    access.readMode = cudaReadModeElementType;
    if (status == cudaSuccess) status = cudaCreateTextureObject(&t, &memory, &access, nullptr);
    if (status != cudaSuccess)
        return fail(e, E_DEVICE, "%s: cannot create a texture of %lld elements: %s", d->name, (long long)n,
                    cudaGetErrorString(status));
    b->handle = t;
    return true;
}

/* The texture over p[0..n-1] that the launch's kernel keeps with the matrix; made at the first call for p. NULL: it
   cannot be made. A solver passes different vectors from launch to launch, so a matrix may have several textures. A
   graph that was recorded from launches holds their handles, so no texture is released before textures_free. */
static inline const struct bound *texture_bind(const struct launch *L, const void *p, int64_t n, struct err *e)
{
    static const struct bound none = {};
    if (!n) return &none;
    struct bound *first = reinterpret_cast<struct bound *>(*L->note), *b = first;
    while (b && b->p != p) b = b->next;
    if (b) return b;
    b = static_cast<struct bound *>(mem_new(1, sizeof *b, "a texture", e));
    if (!b) return nullptr;
    *b = {first, p, 0, 0};
    if (!texture_new(L->A->dev, b, n, precisions[L->A->of->real].vector, e)) {
        mem_free(b);
        return nullptr;
    }
    *L->note = reinterpret_cast<uintptr_t>(b);
    return b;
}

/* Release the list of textures. The sync makes d the current device and waits for its launches. If the sync fails, the
   device is lost together with its textures. */
static inline void textures_free(struct device *d, uint64_t list)
{
    bool alive = d->ops->sync(d, nullptr);
    for (struct bound *b = reinterpret_cast<struct bound *>(list), *next; b; b = next) {
        next = b->next;
        if (alive) cudaDestroyTextureObject(b->handle);
        mem_free(b);
    }
}
#else
/* The array; its loads are recorded as texture fetches. */
template <typename T> struct texture {
    simt::array<const T> of;
};
#define TEXTURE_OF(name, role, bound, p, n, T) (texture<T>{VECTOR(name, role, p, n, const T)})

template <typename T> T texel(texture<T> t, simt::index i)
{
    return t.of.load(i.i, i.at, ACCESS_TEXTURE);
}

template <typename T> T texel(simt::array<const T> p, simt::index i)
{
    return p[i];
}

static inline const struct bound *texture_bind(const struct launch *, const void *, int64_t, struct err *)
{
    static const struct bound none = {};
    return &none;
}

static inline void textures_free(struct device *, uint64_t) {}
#endif

} // namespace KERNEL_SPACE

#endif
