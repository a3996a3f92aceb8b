// The functions of macOS's notification center that Go calls. Texts are UTF-8 and belong to the caller.

#include <stdbool.h>
#include <stdint.h>

// Reports whether the program runs from a bundle with an identifier. Otherwise the other functions must
// not be called: the system would abort the program.
bool fairleadBundled(void);

// Registers our buttons and starts handling them.
void fairleadOpen(const char *review, const char *allow, const char *deny);
void fairleadClose(void);

// Returns the person's UNAuthorizationStatus, or -1 if the system does not answer within that many
// milliseconds, and their UNAlertStyle.
int fairleadRights(int64_t ms, int *style);

// Makes the system ask the person for permission; the answer arrives as an event.
void fairleadAsk(const char *yes, const char *no, const char *failed);

// Shows a notification. Returns NULL on success, or an error text that the caller must free.
char *fairleadPost(const char *name, const char *title, const char *body, bool allow, bool deny, bool sound, int64_t ms);

// Removes a notification.
void fairleadTake(const char *name);

// Implemented in Go: receives the person's actions and answers. It does not block.
extern void fairleadTell(char *what, char *name);
