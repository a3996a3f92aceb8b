// Command fairlead-desktop is the desktop program of Fairlead: gateway, node and windows in one
// process.
package main

import (
	_ "embed"
	"os"

	"fairlead/app"
	"fairlead/gateway/peer/keychain"
	"fairlead/node/sandbox"
)

//go:embed CHANGELOG.md
var changelog string

func main() {
	sandbox.Main() // before anything else: the program may be its own helper
	keychain.ProtectProcess()
	os.Exit(app.Main(os.Args[1:], changelog))
}
