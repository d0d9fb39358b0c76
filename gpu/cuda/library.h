/* Libraries of NVIDIA's that are opened when first used: finding them, for vendor.cu and vendor_lu.cu. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

#include "gpu/dev.h"
#include "base/base.h"

#include <dlfcn.h>
#include <stdio.h>

/* lib`stem`.so.VERSION for the first of the versions that is there, where the loader looks or in the toolkit's default
   folder; NULL: none, and dlerror() says why. */
static inline void *library_open(const char *stem, const int *versions, int n)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
    void *library = NULL;
    for (int v = 0; v < n; v++)
        for (int f = 0; f < COUNT(folders) && !library; f++) {
            char name[128];
            snprintf(name, sizeof name, "%slib%s.so.%d", folders[f], stem, versions[v]);
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
    return library;
}

/* vendor_lu.cu: what it holds of d is gone with a reset. */
void vendor_lu_forget(const struct device *d);

#endif
