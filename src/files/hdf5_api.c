/* Open HDF5 at its first use. */
#include "hdf5_api.h"
#include "base/base.h"
#include "base/err.h"
#include "base/shared.h"

#include <dlfcn.h>
#include <string.h>

static bool find_all(struct hdf5 *h, void *lib, struct err *e)
{
    const struct {
        const char *name;
        void *to;
    } table[] = {
        {"H5open", &h->open_library},
        {"H5get_libversion", &h->version},
        {"H5Fopen", &h->open_file},
        {"H5Oopen", &h->open_object},
        {"H5Oclose", &h->close_object},
        {"H5Iget_type", &h->kind},
        {"H5Lexists", &h->link_exists},
        {"H5Gget_info", &h->group_info},
        {"H5Lget_name_by_idx", &h->link_name},
        {"H5Aexists", &h->attribute_exists},
        {"H5Aopen", &h->open_attribute},
        {"H5Aread", &h->read_attribute},
        {"H5Aget_type", &h->attribute_type},
        {"H5Aget_space", &h->attribute_space},
        {"H5Dget_type", &h->dataset_type},
        {"H5Dget_space", &h->dataset_space},
        {"H5Dread", &h->read_dataset},
        {"H5Sget_simple_extent_ndims", &h->axes},
        {"H5Sget_simple_extent_dims", &h->lengths},
        {"H5Sselect_hyperslab", &h->select},
        {"H5Screate_simple", &h->new_space},
        {"H5Tget_class", &h->type_class},
        {"H5Tget_size", &h->type_size},
        {"H5Tis_variable_str", &h->is_variable_text},
        {"H5Tcreate", &h->new_type},
        {"H5Tinsert", &h->add_member},
        {"H5Tget_member_index", &h->member_index},
        {"H5T_NATIVE_DOUBLE_g", &h->native_double},
        {"H5T_NATIVE_LLONG_g", &h->native_long},
    };
    for (int i = 0; i < COUNT(table); i++) {
        void *symbol = dlsym(lib, table[i].name);
        if (!symbol) return fail(e, E_UNSUPPORTED, "this libhdf5 has no %s; install HDF5 1.10 or newer", table[i].name);
        memcpy(table[i].to, &symbol, sizeof symbol);
    }
    return true;
}

bool hdf5_open(struct hdf5 *h, struct err *e)
{
    static const char *const names[] = {
        "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103",    "libhdf5.so.200",
        "libhdf5.so.310",        "libhdf5.so.320",        "libhdf5_serial.so", "libhdf5.so"};
    unsigned *v = h->release;
    void *lib = shared_open(COUNT(names), names, e);
    if (!lib)
        return fail(e, E_UNSUPPORTED,
                    "HDF5 files need libhdf5, which is not installed; install libhdf5-dev, or save the matrix as .npz");
    if (!find_all(h, lib, e)) return false;
    if (h->open_library() >= 0 && h->version(&v[0], &v[1], &v[2]) >= 0 && (v[0] > 1 || v[1] >= 10)) return true;
    return fail(e, E_UNSUPPORTED, "this libhdf5 is version %u.%u; install HDF5 1.10 or newer", v[0], v[1]);
}
