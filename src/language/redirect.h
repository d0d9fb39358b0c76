/* Redirection: the output of a command goes to a file (> FILE, >> FILE) or to a shell command (| COMMAND). */
#ifndef REDIRECT_H
#define REDIRECT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/memfile.h"
#include "base/newfile.h"
#include "base/target.h"
#include "report/output.h"

struct err;
struct session;
struct words;

enum redirect_to { REDIRECT_NONE, REDIRECT_NEW, REDIRECT_APPEND, REDIRECT_SHELL };
struct redirect {
    enum redirect_to to;
    const char *target; /* a path or a shell command; points into the words */
    bool force;         /* overwrite an existing file */
    struct out_target before;
    enum out_mode mode_before;
    bool array;           /* the file is one JSON array; `text` collects its lines */
    struct newfile file;  /* REDIRECT_NEW */
    struct target itself; /* REDIRECT_APPEND */
    FILE *stream;         /* writes the file */
    int cause;            /* errno of the first write that failed; 0: none has failed, or its reason is not known */
    struct memfile text;  /* REDIRECT_SHELL: the input of the shell command; `array`: lines of JSON */
};
/* Take a redirection from the end of the words; *r must be empty. `compares`: the command itself compares with >, so a
   > before a number is not a redirection, and neither is a > that a condition needs, unless a path follows it. */
bool redirect_take(struct redirect *r, struct words *w, bool compares, struct err *e);
/* Open the target and send the session's output to it. If this fails, nothing is redirected. A file whose name ends in
   .csv receives CSV, .json one array of JSON (JSON lines after >>, and if the session prints JSON), .jsonl JSON lines;
   any other target receives what the session prints. */
bool redirect_begin(struct redirect *r, struct session *s, struct err *e);
/* Send the output to the previous target again. `ok`: the command succeeded; if it failed without output, no file is
   written and no shell command runs. */
bool redirect_end(struct redirect *r, struct session *s, bool ok, struct err *e);

#endif
