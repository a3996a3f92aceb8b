package keychain

import (
	"os"
	"strings"
	"unsafe"
)

// TokenVariable is the environment variable that can give a program the gateway's token.
const TokenVariable = "FAIRLEAD_TOKEN"

// given is the token that Guard took from the environment.
var given Secret

// Guard protects this program's secrets from other programs of the same user, including the
// commands that it starts. It removes the token from the environment, also from the system's view,
// and forbids other processes to read this process, as far as the system supports that. [FromEnv]
// still returns the token. It also hides the value of each of the given flags from the system's
// view; os.Args keeps it. Call it first in main, before other goroutines exist.
//
// On Linux the process becomes undumpable: only root can read its memory, open files and variables,
// or trace it, and there is no core file. On macOS no debugger can attach. On Windows, other
// processes of the user can only wait for it, terminate it and query whether it runs. Guard does
// not stop root, or a program that reads the secrets file, which belongs to the user.
func Guard(flags ...string) {
	take(flags)
	seclude()
}

// take removes the secrets from the environment and the arguments.
func take(flags []string) {
	if token, ok := os.LookupEnv(TokenVariable); ok {
		given = Secret(token)
		forget(TokenVariable)
		os.Unsetenv(TokenVariable)
	}
	for i, arg := range os.Args {
		for _, flag := range flags {
			if value, ok := strings.CutPrefix(arg, flag+"="); ok {
				os.Args[i] = strings.Clone(arg)
				wipe(value)
			} else if arg == flag && i+1 < len(os.Args) {
				value := os.Args[i+1]
				os.Args[i+1] = strings.Clone(value)
				wipe(value)
			}
		}
	}
}

// FromEnv returns the token from the environment, before or after Guard; empty if there was none.
func FromEnv() Secret {
	if token := os.Getenv(TokenVariable); token != "" {
		return Secret(token)
	}
	return given
}

// wipe overwrites an argument in the memory that the system shows to other processes. Go's argument
// strings point there, or to the heap if they were created by the program; no other string shares
// that memory.
func wipe(value string) {
	clear(unsafe.Slice(unsafe.StringData(value), len(value)))
}
