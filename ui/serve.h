/* The duties of the screen thread while a command runs. */
#ifndef SERVE_H
#define SERVE_H

void serve_attach(void); /* hand the duties of the screen thread to beside.c; called once */

#endif
