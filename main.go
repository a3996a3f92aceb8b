// Command fairlead-desktop is the desktop program of Fairlead: gateway, node and windows in one process.
package main

import (
	"os"

	"fairlead/app"
	"fairlead/gateway/protocol/secret"
	"fairlead/node/sandbox"
)

func main() {
	sandbox.Main() // before anything else: the program may be its own helper
	secret.Guard()
	os.Exit(app.Main(os.Args[1:]))
}
