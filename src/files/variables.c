/* Choose between the named sparse matrices of a file. */
#include "variables.h"
#include "base/err.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"

#include <math.h>
#include <string.h>

const char *const side_names[SIDES] = {"b", "x"};

bool variable_chosen(struct variable_names *t, const char *name, const char *part)
{
    size_t used = strlen(t->all);
    if (used + strlen(name) + 8 < sizeof t->all)
        snprintf(t->all + used, sizeof t->all - used, "%s%s", t->found ? ", " : "", name);
    t->found++;
    if (t->name[0] || (part && strcmp(part, name))) return false;
    snprintf(t->name, sizeof t->name, "%s", name);
    return true;
}

void variable_note(const struct variable_names *t, const char *part, const char *noun, bool names_one,
                   struct load_info *info)
{
    char names[NAMES_ROOM * 2], name[NAME_ROOM * 4], nouns[128];
    if (part || t->found < (names_one ? 1 : 2)) return;
    print_safe(t->name, strlen(t->name), 60, name, sizeof name);
    snprintf(nouns, sizeof nouns, "%s", how_many(t->found, noun).text);
    if (t->found == 1)
        file_note(info, "read %s, the only %s", name, noun);
    else
        file_note(info, "read %s, the first of %s: %s", name, nouns,
                  print_safe(t->all, strlen(t->all), 80, names, sizeof names));
}

bool variable_missing(const struct source *s, const struct variable_names *t, const char *noun, struct err *e)
{
    char names[NAMES_ROOM * 2], part[NAME_ROOM * 4];
    if (!t->found) return file_bad(s, e, "the file has no %s", noun);
    return fail_at(e, E_USAGE, s->where, "no %s \"%s\"; the file has %s", noun,
                   print_safe(s->part, strlen(s->part), 60, part, sizeof part),
                   print_safe(t->all, strlen(t->all), 300, names, sizeof names));
}

void variable_note_rounded(int64_t n, const double *val, struct load_info *info)
{
    int64_t rounded = 0;
    for (int64_t k = 0; k < n; k++) rounded += fabs(val[k]) >= 0x1p53;
    if (rounded)
        file_note(info, "%s beyond 2^53 %s rounded", how_many(rounded, "integer").text, rounded == 1 ? "was" : "were");
}
