/* The functions of HDF5 that file_hdf5.c calls. The types are those of HDF5 1.10 and newer; its header is not used, so
   that the program can be built without HDF5. */
#ifndef HDF5_API_H
#define HDF5_API_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

typedef int64_t hid; /* a handle; negative: failure */
typedef unsigned long long hsize;

enum hdf5_kind { HDF5_GROUP = 2, HDF5_DATASET = 5 };                            /* of a handle */
enum hdf5_class { HDF5_INTEGER, HDF5_FLOAT, HDF5_COMPOUND = 6, HDF5_ENUM = 8 }; /* of a type */
struct hdf5_group_info {
    int storage;
    hsize links;
    int64_t last;
    bool mounted;
};

struct hdf5 {
    int (*open_library)(void);
    int (*version)(unsigned *, unsigned *, unsigned *);
    hid (*open_file)(const char *, unsigned flags, hid);
    hid (*open_object)(hid, const char *, hid);
    int (*close_object)(hid);
    int (*kind)(hid);
    int (*link_exists)(hid, const char *, hid);
    int (*group_info)(hid, struct hdf5_group_info *);
    ssize_t (*link_name)(hid, const char *, int index, int order, hsize n, char *, size_t, hid);
    int (*attribute_exists)(hid, const char *);
    hid (*open_attribute)(hid, const char *, hid);
    int (*read_attribute)(hid, hid type, void *);
    hid (*attribute_type)(hid);
    hid (*attribute_space)(hid);
    hid (*dataset_type)(hid);
    hid (*dataset_space)(hid);
    int (*read_dataset)(hid, hid type, hid memory, hid file, hid, void *);
    int (*axes)(hid space);
    int (*lengths)(hid space, hsize *, hsize *);
    int (*select)(hid space, int operation, const hsize *, const hsize *, const hsize *, const hsize *);
    hid (*new_space)(int axes, const hsize *, const hsize *);
    int (*type_class)(hid);
    size_t (*type_size)(hid);
    int (*is_variable_text)(hid);
    hid (*new_type)(int class, size_t);
    int (*add_member)(hid, const char *, size_t, hid);
    int (*member_index)(hid, const char *);
    hid *native_double, *native_long; /* types in memory */
    unsigned release[3];              /* of the library */
};

/* Open the library and find its functions. */
bool hdf5_open(struct hdf5 *h, struct err *e);

#endif
