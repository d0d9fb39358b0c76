/* The emulator as its device sees it. */
#ifndef EMU_H
#define EMU_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#ifdef __cplusplus
extern "C" {
#endif

/* The first finding of the launches since the last call, if there was one; the emulator then works again. */
bool emu_sync(struct err *e);
/* Deal the lanes' turns by a seed: what depends on the order is a race. 0 = in the order of their numbers. */
void emu_order(uint64_t seed);
/* The name of what is launched from now on, for findings; NULL: as LAUNCH writes it. */
void emu_name(const char *kernel);
/* May the blocks of what is launched from now on go side by side, on all threads of the host? */
void emu_side_by_side(bool on);
/* Look for races within blocks (races.h) in what is launched from now on: each is a finding. */
void emu_races(bool on);
void emu_close(void);

#ifdef __cplusplus
}
#endif
#endif
