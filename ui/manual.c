/* --help, the manual page and the completions for shells, made from the tables that the program uses. */
#include "language/manual.h"
#include "base/suggest.h"
#include "language/options.h"
#include "session/command.h"
#include "view.h"

#include <string.h>

/* ---- the command line ---- */

/* The word that may follow a flag. */
enum follows { NOTHING, COMMANDS, FILES, VIEWS, WORDS };
static const struct flag {
    const char *name, *value, *about;
    enum follows follows;
    const char *words;
} flags[] = {
    {"-c", "COMMANDS", "run commands, separated by `;`, and exit", COMMANDS, NULL},
    {"-f", "SCRIPT", "run the commands of a file and exit", FILES, NULL},
    {"-v", "FILE", "explore a file full screen and exit; -v VIEW FILE begins with a view such as rows", VIEWS, NULL},
    {"--json", NULL, "one JSON object per line", NOTHING, NULL},
    {"--csv", NULL, "print tables as CSV, each with a header", NOTHING, NULL},
    {"--plain", NULL, "no colours, ASCII only", NOTHING, NULL},
    {"--device", "D", "use cpu, emu or cuda:N", WORDS, "cpu emu cuda:0"},
    {"--allow", "WHAT", "let scripts and clients use the shell, or write any file: shell, files", WORDS, "shell files"},
    {"--serve", NULL, "answer requests, as JSON lines, or at a socket with --serve=unix:PATH; see `help serve`",
     NOTHING, NULL},
    {"--man", NULL, "print the manual page, for `man -l -`", NOTHING, NULL},
    {"--completion", "SHELL", "print the completion script for bash or zsh", WORDS, "bash zsh"},
    {"--version", NULL, "print the version", NOTHING, NULL},
    {"--help", NULL, "print this text", NOTHING, NULL},
};

static const char summary[] = "Load Matrix Market files and explore them at a prompt, or with commands from a pipe.";
static const char closing[] =
    "-c, -f and -v may be repeated and stop at the first command that fails. Input from a pipe continues with the\n"
    "next line. Exit status: 0, 1 if a command failed, or 2 if the options are wrong.\n";

void manual_usage(FILE *f)
{
    fprintf(f, "usage: warpspy [OPTION]... [FILE]...\n%s\n\n", summary);
    for (int i = 0; i < COUNT(flags); i++) {
        char left[32];
        snprintf(left, sizeof left, "%s %s", flags[i].name, flags[i].value ? flags[i].value : "");
        fprintf(f, "  %-18s %s\n", left, flags[i].about);
    }
    fprintf(f, "\n%sExample: warpspy -c 'stats; spy; bench' samples/thesis4.mtx\nAt the prompt: help.\n", closing);
}

/* ---- the manual page ---- */

/* Write n bytes of text with all troff controls escaped. */
static void roff(FILE *f, const char *text, size_t n)
{
    if (n && (*text == '.' || *text == '\'')) fputs("\\&", f);
    for (size_t i = 0; i < n; i++) {
        const char *is = text[i] == '\\'   ? "\\e"
                         : text[i] == '-'  ? "\\-"
                         : text[i] == '`'  ? "\\(ga"
                         : text[i] == '\'' ? "\\(aq"
                         : text[i] == '^'  ? "\\(ha"
                         : text[i] == '~'  ? "\\(ti"
                                           : NULL;
        if (is)
            fputs(is, f);
        else
            fputc(text[i], f);
    }
}

static void roff_line(FILE *f, const char *text)
{
    roff(f, text, strlen(text));
    fputc('\n', f);
}

/* Write prose. Lines that begin with blanks are not changed. */
static void roff_prose(FILE *f, const char *text)
{
    bool as_is = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if ((*text == ' ') != as_is) fputs(as_is ? ".EE\n" : ".EX\n", f);
        as_is = *text == ' ';
        roff(f, text, n);
        fputc('\n', f);
        text += n + (text[n] == '\n');
    }
    if (as_is) fputs(".EE\n", f);
}

/* Write a tagged paragraph: the name in bold, its arguments in italics. */
static void roff_item(FILE *f, const char *name, const char *arguments, const char *about)
{
    fputs(".TP\n\\fB", f);
    roff(f, name, strlen(name));
    fputs("\\fR", f);
    if (arguments && *arguments) {
        fputs(" \\fI", f);
        roff(f, arguments, strlen(arguments));
        fputs("\\fR", f);
    }
    fputc('\n', f);
    roff_line(f, about);
}

static void page_commands(FILE *f)
{
    char help[HELP_ROOM];
    const char *group = "";
    fputs(".SH COMMANDS\n", f);
    roff_prose(f,
               "A word in UPPER CASE stands for a value to fill in, a part in [...] may be left out, and | separates\n"
               "alternatives. Commands are separated by `;`, # begins a comment, and !COMMAND goes to the shell (see\n"
               "allow).");
    for (int i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        if (strcmp(group, command_group(c))) fprintf(f, ".SS \"%s\"\n", group = command_group(c));
        roff_item(f, c->name, c->grammar, c->about);
        fputs(".RS\n.PP\n", f);
        roff_prose(f, command_text(c, help));
        fputs(".RE\n", f);
    }
}

static void page_views(FILE *f)
{
    fputs(".SH VIEWS\n", f);
    for (int i = 0; views[i]; i++) roff_item(f, views[i]->name, NULL, views[i]->about);
}

static void add_value(void *user, const char *word)
{
    struct message *t = user;
    if (t->n + strlen(word) + 3 < sizeof t->text)
        t->n += (size_t)snprintf(t->text + t->n, sizeof t->text - t->n, "%s%s", t->n ? "|" : "", word);
}

static void page_options(FILE *f)
{
    fputs(".SH \"SAVED OPTIONS\"\nThe command \\fBset\\fR saves these options.\n", f);
    for (const struct setting *o = options; o->name; o++) {
        struct message values = {0};
        for (int i = 0; o->values[i]; i++) add_value(&values, o->values[i]);
        roff_item(f, o->name, *values.text ? values.text : "DEVICE", o->about);
    }
}

static const struct {
    const char *section, *name, *about;
} notes[] = {
    {"ENVIRONMENT", "NO_COLOR", "If not empty, there are no colours, unless `set colours` selected colours."},
    {NULL, "TERM, COLORTERM",
     "The type of the terminal; COLORTERM=truecolor means that the terminal shows all colours."},
    {NULL, "WARPSPY_PAGER, PAGER", "The program that shows long output if `set pager env` selected it."},
    {NULL, "LC_ALL, LC_CTYPE, LANG", "Braille and boxes need a UTF-8 locale."},
    {NULL, "INPUTRC",
     "The file of key bindings for the prompt, as in every program that uses readline; the application name is "
     "warpspy."},
    {NULL, "XDG_CONFIG_HOME, XDG_STATE_HOME", "If set, they replace ~/.config and ~/.local/state in the paths below."},
    {NULL, "XDG_DATA_HOME, XDG_DATA_DIRS",
     "Folders in which warpspy/lessons/NAME.txt may be a lesson of your own, and warpspy/puzzles/NAME.txt a puzzle."},
    {NULL, "OMP_WAIT_POLICY, GOMP_SPINCOUNT",
     "How threads wait for one another. If neither is set, threads soon sleep, which is best on a busy machine; "
     "`active` is best for measurements of small matrices on an idle machine."},
    {NULL, "CUDA_VISIBLE_DEVICES", "The GPUs that the program can use."},
    {"FILES", "~/.config/warpspy/config", "The saved options: lines such as `colours 256`; # begins a comment."},
    {NULL, "~/.local/state/warpspy/history", "The lines typed at the prompt."},
    {NULL, "~/.local/state/warpspy/lessons", "Your answers in the lessons: a file for each lesson."},
    {NULL, "~/.local/state/warpspy/puzzles", "Your progress in the puzzles."},
    {NULL, "share/warpspy/samples", "A folder next to the program's bin, with sample matrices, lessons and puzzles."},
    {"EXIT STATUS", "0", "All commands succeeded."},
    {NULL, "1", "A command failed, or its output could not be written."},
    {NULL, "2", "The options are wrong."},
};

void manual_page(FILE *f)
{
    fprintf(f, ".TH WARPSPY 1 \"\" \"warpspy %s\" \"User Commands\"\n", WARPSPY_VERSION);
    fputs(".SH NAME\nwarpspy \\- explore sparse matrices and their kernels in the terminal\n", f);
    fputs(".SH SYNOPSIS\n.B warpspy\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n.SH DESCRIPTION\n", f);
    roff_line(f, summary);
    fputs(".SH OPTIONS\n", f);
    for (int i = 0; i < COUNT(flags); i++) roff_item(f, flags[i].name, flags[i].value, flags[i].about);
    fputs(".PP\n", f);
    roff_prose(f, closing);
    page_commands(f);
    page_views(f);
    page_options(f);
    for (int i = 0; i < COUNT(notes); i++) {
        if (notes[i].section) fprintf(f, ".SH \"%s\"\n", notes[i].section);
        roff_item(f, notes[i].name, NULL, notes[i].about);
    }
}

/* ---- completions ---- */

static void all_commands(FILE *f)
{
    for (int i = 0; commands[i]; i++) fprintf(f, "%s%s", i ? " " : "", commands[i]->name);
}

static void all_views(FILE *f)
{
    for (int i = 0; views[i]; i++) fprintf(f, "%s%s", i ? " " : "", views[i]->name);
}

static void bash_case(FILE *f, const struct flag *k)
{
    if (k->follows == NOTHING) return;
    fprintf(f, "    %s)\n        ", k->name);
    if (k->follows != FILES) fputs("COMPREPLY=($(compgen -W \"", f);
    if (k->follows == COMMANDS) all_commands(f);
    if (k->follows == VIEWS) all_views(f);
    if (k->follows == WORDS) fputs(k->words, f);
    if (k->follows != FILES) fputs("\" -- \"$cur\"))\n        ", f);
    fputs(k->follows == FILES || k->follows == VIEWS ? "files=1 ;;\n" : "return ;;\n", f);
}

/* Readline breaks words at colons, so a completion must leave out the text up to and including the last colon of the
   word. */
static void bash(FILE *f)
{
    fputs("# Completion of warpspy for bash, made by `warpspy --completion bash`.\n_warpspy()\n{\n"
          "    local cur prev files=0\n"
          "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n    COMPREPLY=()\n"
          "    case $prev in\n",
          f);
    for (int i = 0; i < COUNT(flags); i++) bash_case(f, &flags[i]);
    fputs("    *)\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W \"", f);
    for (int i = 0; i < COUNT(flags); i++) fprintf(f, "%s%s", i ? " " : "", flags[i].name);
    fputs("\" -- \"$cur\"))\n            return\n        fi\n        files=1 ;;\n    esac\n"
          "    if ((files)); then\n        compopt -o filenames 2>/dev/null\n        local IFS=$'\\n'\n"
          "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n    fi\n}\ncomplete -F _warpspy warpspy\n",
          f);
}

/* Escape text for '...[HERE]...' in zsh's _arguments. */
static void zsh_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *text))
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
    }
}

static void zsh_flag(FILE *f, const struct flag *k)
{
    bool again = k->name[1] != '-';
    fprintf(f, "    '%s%s%s[", again ? "*" : "", k->name, k->value ? again ? "+" : "=" : "");
    zsh_text(f, k->about);
    fputc(']', f);
    if (k->follows != NOTHING) fprintf(f, ":%s:", k->value);
    if (k->follows == COMMANDS) fputc('(', f), all_commands(f), fputc(')', f);
    if (k->follows == WORDS) {
        fputc('(', f);
        zsh_text(f, k->words);
        fputc(')', f);
    }
    if (k->follows == FILES) fputs("_files", f);
    if (k->follows == VIEWS) fputs("_warpspy_view", f);
    fputs("' \\\n", f);
}

static void zsh(FILE *f)
{
    fputs("#compdef warpspy\n# Completion of warpspy for zsh, made by `warpspy --completion zsh`.\n"
          "_warpspy_view() { _alternative 'views:view:(",
          f);
    all_views(f);
    fputs(")' 'files:file:_files' }\n_arguments -s \\\n", f);
    for (int i = 0; i < COUNT(flags); i++) zsh_flag(f, &flags[i]);
    fputs("    '*:file:_files'\n", f);
}

bool manual_completion(FILE *f, const char *shell)
{
    if (!strcmp(shell, "bash"))
        bash(f);
    else if (!strcmp(shell, "zsh"))
        zsh(f);
    else
        return false;
    return true;
}
