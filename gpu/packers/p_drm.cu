/* CSR to DRM on a device: openers give the diagonals of each segment. The host reads the number of diagonals of each
   segment, and rearranges and merges the segments one after another; the device writes the values in the resulting
   order. */
#include "base/mem.h"
#include "formats/fmt_drm.h"
#include "openers.h"

namespace KERNEL_SPACE
{

/* Thread d: offset d moves to the new position of its segment's diagonals. */
__global__ void drm_offsets(int64_t segments, int64_t diagonals, GPTR(const int) band, GPTR(const int) offsets,
                            GPTR(const int) base, GPTR(int) out)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (d >= diagonals) return;
    int64_t h = last_not_above(band, 0, segments, d);
    out[base[h] + d - band[h]] = offsets[d];
}

/* One thread per entry of a tile writes the entry to row t of diagonal d of segment h. base[h]: the index at which
   segment h begins. */
template <typename T>
__global__ void drm_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, int64_t nrows, GPTR(const int) band, GPTR(const int) offsets,
                         GPTR(const int) base, GPTR(T) out)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t row = t.row + row_of[k], h = row / nrows;
        int64_t d = place_of_key(offsets, band[h], band[h + 1], (int)(col[t.from + k] - row)) - band[h] + base[h];
        out[d * nrows + row % nrows] = val[t.from + k];
    }
}

static int64_t segments_of(const struct packing *p)
{
    return (p->rows + p->S.param[0] - 1) / p->S.param[0];
}

static struct drm_layout *layout_of(struct packing *p)
{
    return static_cast<struct drm_layout *>(p->state);
}

/* Do the host's part of the conversion. `before` (n + 1 elements) receives the number of diagonals before each
   segment. */
static bool lay(struct packing *p, int *before, int64_t n, struct err *e)
{
    drm_layout_free(layout_of(p));
    return packing_read(p, before, p->room[ROOM_BAND].p, (n + 1) * (int64_t)sizeof *before, e) &&
           drm_lay(before, n, p->S.param[0], layout_of(p), e);
}

/* Set base[h], and its copy in ROOM_BASE, to the index at which the diagonals of segment h begin in the new order. */
static bool put_bases(struct packing *p, int *base, int64_t n, struct err *e)
{
    const struct drm_layout *L = layout_of(p);
    void *to = packing_room(p, ROOM_BASE, n, sizeof *base, e);
    for (int64_t s = 0; s < n; s++) base[L->index[s]] = L->dnum[s];
    return to && p->dev->ops->put(p->dev, to, base, n * (int64_t)sizeof *base, e);
}

static void release(void *state)
{
    drm_layout_free(static_cast<struct drm_layout *>(state));
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t n = segments_of(p);
    if (!packing_state(p, sizeof(struct drm_layout), release, e)) return false;
    if (!find_openers<by_diagonal>(p, p->S.param[0], 1, e)) return false;
    int *before = static_cast<int *>(mem_new(n + 1, sizeof *before, "numbers of diagonals", e));
    bool ok = before && lay(p, before, n, e) && put_bases(p, before, n, e);
    mem_free(before);
    if (ok) drm_sizes(&p->S, layout_of(p));
    return ok;
}

static bool put(struct packing *p, int k, const int *from, struct err *e)
{
    return p->dev->ops->put(p->dev, p->out[k], from, p->S.a[k].n * (int64_t)sizeof *from, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t n = segments_of(p);
    const struct drm_layout *L = layout_of(p);
    auto band = PACK_ROOM(p, ROOM_BAND, n + 1, const int);
    auto offsets = PACK_ROOM(p, ROOM_NUMBER, p->found, const int);
    auto base = PACK_ROOM(p, ROOM_BASE, n, const int);
    if (!put(p, DRM_DNUM, L->dnum, e) || !put(p, DRM_INDEX, L->index, e) || !put(p, DRM_BLO, L->blo, e)) return false;
    LAUNCH(p->dev, blocks_for(p->found, PACK_BLOCK), PACK_BLOCK, drm_offsets)
    (n, p->found, band, offsets, base, PACK_OUT(p, DRM_OFF, int));
    launch_zero<T>(p->dev, p->out[DRM_VAL], p->S.a[DRM_VAL].n);
    LAUNCH_TILES(p, drm_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), p->S.param[0], band, offsets, base, PACK_OUT(p, DRM_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(drm) = {
    .format = &format_drm,
    .about = "finds each segment's diagonals as in hdia; from their numbers, the host decides which segments to merge",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
