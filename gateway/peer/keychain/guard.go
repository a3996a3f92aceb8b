package keychain

import (
	"os"
	"strings"
	"unsafe"
)

// TokenVariable is the environment variable that may give a program its gateway's token.
const TokenVariable = "FAIRLEAD_TOKEN"

// given is the token that Guard took from the environment.
var given Secret

// Guard keeps this program's secrets from the other programs of its user, among them the commands that it starts: the token leaves the environment,
// also as the system shows it, and other processes may no longer look into this one as far as the system has a way to say so. [FromEnv] still gives
// the token. So does the value of each of the flags in os.Args, which only the system no longer shows. Call it first in main, before there are other
// goroutines.
//
// On Linux the process becomes undumpable: its memory, open files and variables are root's alone. There is no core file, and whoever wants to trace
// it must be root. On macOS no debugger can attach. On Windows other processes of the user may wait for it, end it and ask whether it runs. Nowhere does
// it stop root, or a program that reads the file of secrets, which belongs to the user.
func Guard(flags ...string) {
	take(flags)
	seclude()
}

// take is the part of Guard that concerns what this program was started with.
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

// FromEnv is the token that the environment gave this program, before Guard or after; empty when it gave none.
func FromEnv() Secret {
	if token := os.Getenv(TokenVariable); token != "" {
		return Secret(token)
	}
	return given
}

// wipe overwrites an argument where the program was given it, which is what the system shows of a running program: Go's strings of the arguments lie
// there, or on the heap where they were made, and nothing else has them.
func wipe(value string) {
	clear(unsafe.Slice(unsafe.StringData(value), len(value)))
}
