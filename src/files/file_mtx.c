/* Matrix Market as a kind of file; the files mtx_*.c do the work. */
#include "file.h"
#include "load_info.h"
#include "matrix_market.h"
#include "mtx.h"
#include "mtx_find.h"
#include "sides.h"

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct load_info stamp = {0};
    mtx_stamp(s->path, &stamp);
    if (!mtx_load_stream(s->stream, s->begin, s->n, s->path, w, A, s->sides, info, e)) return false;
    info->text_bytes = stamp.text_bytes;
    info->text_ns = stamp.text_ns;
    return true;
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    bool pattern = load_info_is_pattern(info) && !(sides && sides->n) && values_are_ones(A);
    return pattern ? mtx_save_pattern(path, force, A, comment, w, e)
                   : mtx_save_system(path, force, A, sides, comment, w, e);
}

const struct file_kind file_mtx = {
    .name = "Matrix Market",
    .endings = ".mtx .mtx.gz",
    .about = "Matrix Market",
    .packed = true,
    .notes_not_finite = true,
    .large = true,
    .load = load,
    .save = save,
    .saves_sides = true,
    .sides_word = "amgx",
};
