/* The GPUs that the cost model can predict: what a GPU consists of, and what was measured on it. */
#ifndef GPU_PROFILE_H
#define GPU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "base/registry.h"
#include "machine/device.h"

struct err;

C_BEGIN

struct machine {
    char name[64];
    bool here;        /* the ceilings were measured on a device of this computer */
    bool scaled;      /* some ceilings are not measured, but scaled from those of the reference GPU */
    int sms;          /* multiprocessors */
    double memory_gb; /* size of the memory, in 10^9 bytes; 0: not known */
    struct gpu_facts is;
    struct ceilings c;
    struct link_ceilings link; /* between GPUs of this kind, if `linked` */
    int pcie_only;             /* 1: GPUs of this kind have no NVLink */
    int linked;                /* the number of GPUs between which the link was measured; 0: it was not */
};

/* The GPU to which the constants of the model were fitted, with its measured ceilings: an NVIDIA H200. */
struct machine machine_reference(void);
/* The machine of d if d is a GPU with measured ceilings, otherwise the reference. `d` may be NULL. */
struct machine machine_of(const struct device *d);

/* ---- profiles: text files of lines such as "sms 108" ---- */

/* The maximum size of a profile, and of its name, in bytes. */
enum { PROFILE_MAX = 1 << 16, PROFILE_NAME = 64 };

/* Read the profile that `name` names: a file, if the name contains a slash or a dot, otherwise NAME.txt in the folders
   of profiles. Ceilings that the file does not state are scaled from the reference. Fails with E_INPUT and the line. */
bool profile_load(const char *name, struct machine *out, struct err *e);
/* The names of all profiles, in alphabetical order within a folder. */
void profile_list(give_fn *give, void *user);
/* Write the profile of a measured machine to a new file; `force` replaces a file that exists. */
bool profile_save(const char *path, const struct machine *g, bool force, struct err *e);

C_END
#endif
