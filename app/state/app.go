// Package state contains the view models of the pages that have not moved to packages of their own
// yet: their actions and their texts, without a GUI toolkit.
package state

import (
	"context"
	"time"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/unsaved"
	"fairlead/gateway/protocol"
)

// App is the root of the view models that all windows share. It is safe for concurrent use.
type App struct {
	*feed.Feed

	Chats  *chats.Chats
	Drafts *unsaved.Store
}

// NewApp creates the view models of the gateway of this computer. Use and Run start them. The
// client's OnUp and OnDown must call Connected and Down. Close stops everything.
func NewApp() *App { return newApp(feed.New()) }

// NewRemoteApp is [NewApp] for a remote gateway; device is this computer's ID there, if paired.
func NewRemoteApp(device protocol.DeviceID) *App { return newApp(feed.NewRemote(device)) }

func newApp(f *feed.Feed) *App {
	a := &App{Feed: f}
	a.Chats = chats.New(f)
	a.Drafts = &unsaved.Store{}
	return a
}

// Say shows a message to the person.
type Say func(text string)

// Failed says what failed and why, and reports whether err is an error at all.
func (say Say) Failed(what string, err error) bool {
	if err != nil {
		say(what + ": " + err.Error())
	}
	return err != nil
}

// OfferUndo shows an action and offers to undo it until a time.
type OfferUndo func(text string, undo func(), until time.Time)

// Set changes a setting of the configuration; nil resets it. It blocks.
func (a *App) Set(ctx context.Context, path string, value any) error {
	return feed.Set(ctx, a, path, value)
}
