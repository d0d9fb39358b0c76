/* All views by their names, for code that shows one of them. */
#ifndef VIEWS_H
#define VIEWS_H

#include "ui/view.h"

#define VIEW(id) extern const struct view view_##id;
#include "views.def"
#undef VIEW

#endif
