// Package app is the desktop program: it starts or joins a gateway, runs this machine's node, and shows it all in windows and a tray icon.
// run.go alone imports the toolkit's driver. The windows are clients of the gateway's protocol, over memory when it runs in this process.
package app
