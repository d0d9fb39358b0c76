/* Every format with the small matrices of the collection. */
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "formats/format.h"
#include "kits/collection.h"
#include "kits/format_kit.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <stdio.h>

enum { FIT_NNZ = 100000, FIT_SLOTS = 1000000 };

static void check_file(const char *path)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
    for (const struct format *const *f = formats; *f && !A.imag && A.nnz <= FIT_NNZ; f++) {
        struct plan p;
        assert_true(format_plan(&A, *f, NULL, P_F64, &p, &e));
        if (p.slots <= FIT_SLOTS && format_allow_here(&p, false, NULL)) format_check(&A, *f, NULL, P_F64);
    }
    csr_free(&A);
}

TEST(test_real_matrices)
{
    const char *folder;
    char path[1024], line[4096], name[128];
    FILE *index = collection_index("real matrices", &folder);
    if (!index) return;
    while (fgets(line, sizeof line, index)) {
        long stored = 0;
        if (sscanf(line, "%127s %*d %*d %ld", name, &stored) != 2 || stored > FIT_NNZ) continue;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, name);
        check_file(path);
    }
    fclose(index);
}
