package keychain

import "os"

// TokenVariable is the environment variable that can give a program the gateway's token.
const TokenVariable = "FAIRLEAD_TOKEN"

// FromEnv returns the token from the environment; empty if there is none.
func FromEnv() Secret { return Secret(os.Getenv(TokenVariable)) }

// ProtectProcess forbids other programs of the same user to read this process's memory and
// environment, which contain secrets, as far as the system supports that. This includes the
// commands that it starts. It is the first call in main, before other goroutines exist.
//
// On Linux the process becomes undumpable: only root can read its memory, open files and variables,
// or trace it, and there is no core file. On macOS no debugger can attach. On Windows, other
// processes of the user can only wait for it, terminate it and query whether it runs. It does not
// stop root, or a program that reads the secrets file, which belongs to the user.
func ProtectProcess() { protectProcess() }
