package app

import (
	"slices"

	"fairlead/app/host"
	"fairlead/app/window"
)

// navigator opens pages in the main window.
type navigator struct {
	window *window.Window
	pages  []host.Entry
	before place // what the present page leads back to
}

// place is what the main window shows; an empty one is the chat.
type place struct {
	title string
	at    host.Target
}

// open opens the page with a title, which may be one of the settings, at a target; nil is its start.
func (n *navigator) open(title string, at host.Target) {
	i := slices.IndexFunc(n.pages, func(e host.Entry) bool { return e.Title == title })
	if i < 0 {
		if at == nil {
			at = host.Page(title)
		}
		n.open(string(host.Settings), at)
		return
	}
	if title != string(host.Settings) { // the first page leads there, and stays until something is connected
		n.window.EndFirstRun()
	}
	if now := n.window.Pages.Title(); now != title {
		n.before = place{now, n.window.Pages.At()}
	}
	n.window.Show()
	n.window.Pages.Open(n.pages[i], at)
}

// back shows what was shown before the present page.
func (n *navigator) back() {
	before := n.before
	n.window.Pages.Close()
	if before.title == "" {
		n.window.Open(n.window.Chat.Page.Key())
		return
	}
	n.open(before.title, before.at)
}
