/* What the emulator has done, for rooms that count its launches. Implemented by gpu/emu. */
#ifndef EMULATED_H
#define EMULATED_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

/* The number of launches so far. */
int64_t emu_launches(void);

C_END
#endif
