/* All headers of the user interface but those of single views. */
#ifndef UI_H
#define UI_H

#include "canvas.h"
#include "draw.h"
#include "explorer.h"
#include "front.h"
#include "prompt.h"
#include "run.h"
#include "stage.h"
#include "term.h"
#include "view.h"
#include "../src/solve.h"

#endif
