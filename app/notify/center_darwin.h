// What Go calls of the notification center of macOS. Texts are UTF-8 and belong to the caller.

#include <stdbool.h>
#include <stdint.h>

// Whether the program runs from a bundle with a name. Only such a one may call the others: without one the system ends the program.
bool fairleadBundled(void);

// Makes our buttons known, and listens to them.
void fairleadOpen(const char *review, const char *deny);
void fairleadClose(void);

// The person's UNAuthorizationStatus, -1 when the system does not answer in that many milliseconds, and their UNAlertStyle.
int fairleadRights(int64_t ms, int *style);

// Has the system ask the person; the answer is told.
void fairleadAsk(const char *yes, const char *no, const char *failed);

// Shows a notification. NULL: the system has it; else why not, which the caller frees.
char *fairleadPost(const char *name, const char *title, const char *body, bool deny, int64_t ms);

// Takes a notification back.
void fairleadTake(const char *name);

// Written in Go: what the person did or answered. It does not wait.
extern void fairleadTell(char *what, char *name);
