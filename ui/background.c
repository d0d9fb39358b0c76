/* The background of the terminal: asking for its colour, and the theme that follows from it. */
#include "background.h"
#include "base/clock.h"
#include "canvas.h"
#include "full_screen_draw.h"
#include "osc.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* AWAIT_US: an answer that is later is skipped like any unknown sequence. LEAVE_US: a program that ends so soon waits
   up to LEAVE_MS for the answer. */
static const double AWAIT_US = 2e6, LEAVE_US = 0.3e6;
enum { LEAVE_MS = 100, REST_MS = 10 };

static struct {
    enum theme_choice choice;
    bool asked, answered;
    bool light; /* the answer */
    double asked_us;
} background;

/* rxvt and others set COLORFGBG to "foreground;background", as numbers of 16 colours. */
static bool environment_is_light(void)
{
    const char *set = getenv("COLORFGBG"), *last = set ? strrchr(set, ';') : NULL;
    return last && (!strcmp(last, ";7") || !strcmp(last, ";15"));
}

static void apply(void)
{
    bool found = background.answered ? background.light : environment_is_light();
    theme_choose(background.choice == THEME_AUTO ? found : background.choice == THEME_LIGHT);
}

void background_choose(enum theme_choice choice)
{
    background.choice = choice;
    apply();
}

void background_ask(void)
{
    if (background.asked || background.choice != THEME_AUTO || !osc_is_understood()) return;
    if (colours_of_env(true) == COLOURS_NONE) return;
    background.asked = true;
    background.asked_us = now_us();
    full_screen_send("\033]11;?\033\\");
}

bool background_is_awaited(void)
{
    return background.asked && !background.answered && now_us() - background.asked_us < AWAIT_US;
}

/* The value of 1 to 4 hexadecimal digits, from 0 to 1; negative: none. */
static double share_of(const char **text)
{
    char *end;
    unsigned long value = strtoul(*text, &end, 16);
    int digits = (int)(end - *text);
    if (digits < 1 || digits > 4) return -1;
    *text = end + (*end == '/');
    return (double)value / (double)((1UL << 4 * digits) - 1);
}

bool background_answer(const char *text)
{
    bool was = theme_is_light();
    const char *at = strstr(text, "rgb");
    if (strncmp(text, "11;", 3) || !at || !(at = strchr(at, ':'))) return false;
    at++;
    double red = share_of(&at), green = share_of(&at), blue = share_of(&at);
    if (red < 0 || green < 0 || blue < 0) return false;
    background.answered = true;
    background.light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
    apply();
    return theme_is_light() != was;
}

void background_end(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    struct termios before, raw;
    char byte;
    bool soon = background_is_awaited() && now_us() - background.asked_us < LEAVE_US;
    if (!soon || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &before)) return;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    for (int ms = LEAVE_MS; poll(&in, 1, ms) > 0 && read(STDIN_FILENO, &byte, 1) == 1;) ms = REST_MS;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}
