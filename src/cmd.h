/* What the files of the commands share. */
#ifndef CMD_H
#define CMD_H

#include "cmd_lu.h"
#include "cmd_race.h"
#include "cmd_solve.h"
#include "derived.h"
#include "fit.h"
#include "output_run.h"
#include "paper.h"
#include "session.h"
#include "spmv.h"

#endif
