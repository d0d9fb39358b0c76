/* The interface of the emulator for the device `emu` and the microscope. A setting applies to all launches after it. */
#ifndef EMU_H
#define EMU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "machine/emulated.h"

struct emu_finding;
struct err;

C_BEGIN

/* false: *e is the first finding of the launches since the last call, and the emulator is ready for new launches. */
bool emu_sync(struct err *e);
/* Get the finding that the next call of emu_sync will report, as separate fields (machine/wrong.h). All members are
   0 if there is no finding. */
void emu_last_finding(struct emu_finding *out);
/* Set the seed that shuffles the order in which lanes run. If a result changes with the seed, the kernel has a race. 0:
   lanes run in the order of their numbers. */
void emu_order(uint64_t seed);
/* Set the kernel name in findings; NULL: the name in the LAUNCH statement. */
void emu_name(const char *kernel);
/* Whether blocks may run at the same time, on all threads of the host. */
void emu_side_by_side(bool on);
/* Is one warp of the launches traced? Such launches are left early. */
bool emu_traces(void);
/* Do only those blocks of a launch run that are watched? */
bool emu_skips(void);
/* Was a launch since the last emu_sync left before its end, by a finding, by the user or by a complete trace? */
bool emu_left_early(void);
/* Whether to look for races within blocks (races.h); a race is a finding. */
void emu_races(bool on);
/* Free the vectors that watched launches use (microscope.c). */
void emu_vectors_free(void);
void emu_close(void);

C_END
#endif
