// Package app is the desktop program: it starts or joins a gateway, runs this machine's node, and
// opens the windows and the tray icon.
//
// The windows are clients of the gateway's protocol, over memory when it runs in this process. Only
// run.go imports the toolkit's driver.
package app
