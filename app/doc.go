// Package app is the desktop program: it starts or joins a gateway, runs this machine's node, and
// opens the windows and the tray icon.
//
// The windows are clients of the gateway's protocol, over memory when it runs in this process. Only
// run.go imports the toolkit's driver.
//
// The type ui is the root of the user interface. Its parts are types of their own: window (the main
// window with its sidebar), navigator (the pages), chatWindows, approvals, settingsWindow,
// messages, notifications, sender (transfers) and opener (links and files). backend connects them
// to a gateway, gateways are the paired remote ones, and remoteNodes are this computer's nodes for
// them.
package app
