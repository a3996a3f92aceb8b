// Package host is what a page may ask of the window around it. The windows implement [Host]; a page
// gets it with everything else that it needs in an [Env], and imports neither the windows nor another
// page.
package host

import (
	"context"
	"io"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/gateway/protocol"
)

// Host is the window around a page. Its methods belong to the GUI thread.
type Host interface {
	// Open shows a place, which may replace the page.
	Open(Target)
	// Say shows a message.
	Say(text string)
	// Undo shows what happened and offers to undo it until a time.
	Undo(text string, undo func(), until time.Time)
	// Copy copies a text to the clipboard.
	Copy(text string)
	// Run runs work off the GUI thread until ctx ends, and then done on it. If work fails, it says what
	// failed and why instead.
	Run(ctx context.Context, failed string, work func(context.Context) error, done func())
}

// Env is what a page gets.
type Env struct {
	Host
	Feed     *feed.Feed
	Chats    *chats.Chats
	Machines *style.Machines // their names and colours
	Drafts   *unsaved.Store
	Prefs    *preferences.Store
}

// Failed says what failed and why, and reports whether err is an error at all.
func (e Env) Failed(what string, err error) bool {
	if err != nil {
		e.Say(what + ": " + err.Error())
	}
	return err != nil
}

// Target is a place that [Host.Open] shows.
type Target interface{ isTarget() }

// Places.
type (
	// Chat is a chat, at the beginning of a run unless Run is empty, or at the message of Hit.
	Chat struct {
		Key protocol.SessionKey
		Run protocol.RunID
		Hit *protocol.SearchHit
	}
	// OtherChat is another chat in place of this one, which is about to be deleted.
	OtherChat protocol.SessionKey
	// Archive are the earlier conversations of a chat, with the one that contains Hit unless it is nil.
	Archive struct {
		Key protocol.SessionKey
		Hit *protocol.SearchHit
	}
	// Machine is a machine on its page; an empty one is the list of all.
	Machine protocol.NodeID
	// NewMachine is the page that adds a machine.
	NewMachine struct{}
	// Forward is the form that forwards a port of a machine; an empty one asks for that too.
	Forward protocol.NodeID
	// Terminal are the terminals of a machine: the one that was opened last, or a new one.
	Terminal protocol.NodeID
	// New is the form of something new on a page, by the title of the page.
	New string
	// Search is the page that searches all messages, with a query.
	Search string
	// AgentFile is one of the agent's own files in the editor, or a folder if it ends with "/".
	AgentFile string
	// Files are the files of a machine; an empty one is the machine that was shown last.
	Files protocol.NodeID
	// File is a file or a folder of a machine on its page.
	File struct {
		Machine protocol.NodeID
		Path    string
	}
	// Page is a page, or a page of the settings, by its title.
	Page string
	// Setting are the settings that contain all words.
	Setting string
	// Link is a fairlead:// link that the system asked the program to open.
	Link string
	// Join is the form that joins another gateway, as a machine of it or to control it.
	Join struct{ AsMachine bool }
	// News is what is new in this version.
	News struct{}
	// Back is what was shown before the page.
	Back struct{}
	// Palette is the field over the window that finds everything; again, it closes.
	Palette struct{}
	// Picture is a picture in a window of its own.
	Picture struct{ Resource fyne.Resource }
	// Output is the output of a call in a window of its own; Search focuses its search field.
	Output struct {
		Title, Text string
		Search      bool
	}
	// Question is a question in its dialog; an empty one is the page of all.
	Question protocol.QuestionID
	// Identical is a question in its dialog, to be answered together with all identical ones.
	Identical protocol.QuestionID
	// URL is an address of the web or of mail in the browser.
	URL string
	// Reveal is a file of this computer in its file manager.
	Reveal string
	// Fetch is the dialog that asks for a folder of this computer, to copy a file of a machine into.
	Fetch struct {
		Machine protocol.NodeID
		Path    string
	}
	// Drop is where files of a machine were dropped that were dragged in a window.
	Drop struct {
		Machine protocol.NodeID
		Paths   []string
		At      fyne.Position // in the window
	}
	// SendFiles is the dialog that asks for files to send to a machine; an empty one asks for that too.
	SendFiles protocol.NodeID
	// Folder is a folder of this computer in its file manager, or a file in its program.
	Folder string
	// ChooseFolder is the dialog that asks for a folder of this computer.
	ChooseFolder struct {
		Title, Button string
		Chosen        func(dir string)
	}
	// SaveFile is the dialog that asks for the name of a new file. The window shows the text that Write
	// returns, or else where the file is. Write runs off the GUI thread.
	SaveFile struct {
		Name          string
		Title, Failed string // of the dialog, and what to say of a failure; may be empty
		Write         func(context.Context, io.Writer) (said string, err error)
	}
	// PickFiles is the dialog that asks for files of this computer.
	PickFiles struct {
		Title, Button string
		Done          func(paths []string)
	}
	// Fork is a new chat with a part of the messages of another, which the window offers to open again.
	Fork struct{ Key, From protocol.SessionKey }
	// OpenFile is the dialog that asks for a file of at most 8 MB. Read gets its content on the GUI
	// thread.
	OpenFile struct {
		Title, Button string
		Read          func(content []byte)
	}
)

// Pages that several packages open.
const (
	Transfers Page = "Transfers"
	Settings  Page = "Settings"
	Exposure  Page = "Who can reach what"
)

func (Chat) isTarget()         {}
func (OtherChat) isTarget()    {}
func (Archive) isTarget()      {}
func (Machine) isTarget()      {}
func (NewMachine) isTarget()   {}
func (Forward) isTarget()      {}
func (Terminal) isTarget()     {}
func (New) isTarget()          {}
func (Search) isTarget()       {}
func (AgentFile) isTarget()    {}
func (Files) isTarget()        {}
func (File) isTarget()         {}
func (Page) isTarget()         {}
func (Setting) isTarget()      {}
func (Link) isTarget()         {}
func (Join) isTarget()         {}
func (News) isTarget()         {}
func (Back) isTarget()         {}
func (Palette) isTarget()      {}
func (Question) isTarget()     {}
func (Identical) isTarget()    {}
func (URL) isTarget()          {}
func (Reveal) isTarget()       {}
func (Folder) isTarget()       {}
func (ChooseFolder) isTarget() {}
func (Fetch) isTarget()        {}
func (Drop) isTarget()         {}
func (SendFiles) isTarget()    {}
func (SaveFile) isTarget()     {}
func (Picture) isTarget()      {}
func (Output) isTarget()       {}
func (PickFiles) isTarget()    {}
func (Fork) isTarget()         {}
func (OpenFile) isTarget()     {}
