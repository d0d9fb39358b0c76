/* DRM: the table entry, the arrays, and the layout of the segments. */
#ifndef FMT_DRM_H
#define FMT_DRM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_drm;

enum { DRM_DNUM, DRM_INDEX, DRM_BLO, DRM_OFF, DRM_VAL }; /* param 0: nrows */
enum { DRM_ROWS = 1024 };                                /* maximum number of rows per thread block, as in the paper */

struct drm_layout {
    int64_t segments, subblocks;
    int *dnum;  /* [segments + 1] for each position, the number of diagonals of the segments before it */
    int *index; /* see drm_index in fmt_drm.c */
    int *blo;   /* see drm_blo in fmt_drm.c; has room for one sub-block per segment */
};
/* Arrange and merge n segments of nrows rows; before[s] is the number of diagonals of all segments before s. Call
   drm_layout_free afterwards, also on failure. */
bool drm_lay(const int *before, int64_t n, int64_t nrows, struct drm_layout *L, struct err *e);
void drm_layout_free(struct drm_layout *L);
void drm_sizes(struct stored *S, const struct drm_layout *L);

C_END
#endif
