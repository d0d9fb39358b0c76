/* Textures in the kernel dialect: only one-dimensional, read-only textures over an array in linear memory.

   A kernel takes TEXTURE(T) and reads texel<T>(t, i); a launch passes TEXTURE_OF(name, handle, p, n, T). On the GPU, a
   texture is an object that texture_new makes and texture_free releases; on the emulator, it is the array itself. */
#ifndef TEXTURE_H
#define TEXTURE_H

#include "gpu/dialect.h"

#include "base/err.h"

enum { TEXTURE_MOST = 1 << 27 }; /* maximum number of elements of a texture on any GPU */

namespace KERNEL_SPACE
{

#ifdef __CUDACC__
#define TEXTURE(T) cudaTextureObject_t
#define TEXTURE_OF(name, handle, p, n, T) (static_cast<cudaTextureObject_t>(handle))

template <typename T> __device__ T texel(cudaTextureObject_t t, int i);

/* Like texel of a texture, but for plain read-only memory, so that a kernel has the same source for both. */
template <typename T> __device__ T texel(const T *p, int i)
{
    return __ldg(p + i);
}

template <> __device__ inline float texel<float>(cudaTextureObject_t t, int i)
{
    return tex1Dfetch<float>(t, i);
}

/* Textures cannot hold doubles: fetch two halves of 4 bytes. */
template <> __device__ inline double texel<double>(cudaTextureObject_t t, int i)
{
    int2 halves = tex1Dfetch<int2>(t, i);
    return __hiloint2double(halves.y, halves.x);
}

/* Makes a texture over p[0..n-1], n > 0. */
static inline bool texture_new(const struct device *d, void *p, int64_t n, enum type real, uint64_t *handle,
                               struct err *e)
{
    cudaTextureObject_t t;
    cudaResourceDesc memory = {};
    cudaTextureDesc access = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = p;
    memory.res.linear.desc = real == T_F32 ? cudaCreateChannelDesc<float>() : cudaCreateChannelDesc<int2>();
    memory.res.linear.sizeInBytes = n * type_size(real);
    access.readMode = cudaReadModeElementType;
    cudaError_t status = cudaCreateTextureObject(&t, &memory, &access, nullptr);
    if (status != cudaSuccess)
        return fail(e, E_DEVICE, "%s: cannot create a texture of %lld elements: %s", d->name, (long long)n,
                    cudaGetErrorString(status));
    *handle = t;
    return true;
}

/* The sync makes d the current device and waits for its launches. If the sync fails, the device is lost together with
   its textures. */
static inline void texture_free(struct device *d, uint64_t handle)
{
    if (d->ops->sync(d, nullptr)) cudaDestroyTextureObject(handle);
}
#else
/* The array; its loads are recorded as texture fetches. */
template <typename T> struct texture {
    simt::array<const T> of;
};
#define TEXTURE(T) texture<T>
#define TEXTURE_OF(name, handle, p, n, T) (texture<T>{VECTOR(name, ROLE_WORK, p, n, const T)})

template <typename T> T texel(texture<T> t, simt::index i)
{
    return t.of.load(i.i, i.at, ACCESS_TEXTURE);
}

template <typename T> T texel(simt::array<const T> p, simt::index i)
{
    return p[i];
}

static inline bool texture_new(const struct device *, void *, int64_t, enum type, uint64_t *, struct err *)
{
    return true;
}

static inline void texture_free(struct device *, uint64_t) {}
#endif

} // namespace KERNEL_SPACE

#endif
