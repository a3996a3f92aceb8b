package host

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/gateway/protocol"
)

// View is a page while it is open, in place of the chat or beside the list of the settings. Some are an
// [Opener], a [Focuser] or a [Receiver], too. Their methods belong to the GUI thread.
type View interface {
	Content() fyne.CanvasObject
	// Back goes back within the page, such as from a detail to its list, and reports whether it did.
	Back() bool
}

// Opener is a page with places of its own.
type Opener interface {
	// OpenAt shows a place of the page; nil is where the page starts.
	OpenAt(Target)
}

// Focuser is a page that takes the keyboard when it is opened.
type Focuser interface {
	Focus(fyne.Canvas)
}

// Receiver is a page that takes files of other programs.
type Receiver interface {
	// At returns the machine at a position of the window, and the folder there; an empty folder is the
	// machine's workspace.
	At(fyne.Position) (machine protocol.NodeID, folder string, ok bool)
}

// Entry is a line in a list of pages.
type Entry struct {
	Icon, Title string
	// Stays keeps an open page when it is opened again.
	Stays bool
	// New creates the page, whose work ends with ctx.
	New func(ctx context.Context) View
}

// OpenAt shows a place of a page, if it has places.
func OpenAt(v View, to Target) {
	if o, ok := v.(Opener); ok {
		o.OpenAt(to)
	}
}
