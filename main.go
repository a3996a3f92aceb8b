// Command fairlead-desktop is the desktop program of Fairlead: gateway, node and windows in one process.
package main

import (
	"os"

	"fairlead/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }
