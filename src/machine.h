/* Umbrella of the machine headers. */
#ifndef MACHINE_H
#define MACHINE_H

#include "bench.h"
#include "bicg_ops.h"
#include "cg_ops.h"
#include "device.h"
#include "format.h"
#include "gmres_ops.h"
#include "kernel.h"
#include "mat.h"
#include "reason.h"
#include "registry.h"
#include "vec_ops.h"
#include "warpspy.h"

#endif
