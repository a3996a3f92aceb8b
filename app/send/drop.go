package send

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/picture"
	"fairlead/gateway/protocol"
)

// Drop is where files of another program go that are dropped on an area of a window.
type Drop struct {
	Area fyne.CanvasObject
	Text string // says what a drop does
	// IsMarked reports whether the page itself highlights the area.
	IsMarked bool
	Do       func(paths []string)
}

// Chat is a chat that takes files.
type Chat interface {
	fyne.CanvasObject
	// Node is the chat's machine.
	Node() protocol.NodeID
	// AddFiles attaches pictures and inserts the paths of other files.
	AddFiles(paths []string)
}

// OnMachine sends files to a machine.
func (s *Sender) OnMachine(id protocol.NodeID, area fyne.CanvasObject) Drop {
	return Drop{Area: area, Text: "Drop to send to " + s.e.Feed.Machines.Get().Name(id), Do: func(paths []string) { s.Send(paths, id) }}
}

// OnFolder sends files to a folder of a machine, which the page highlights.
func (s *Sender) OnFolder(id protocol.NodeID, dir string, area fyne.CanvasObject) Drop {
	text := fmt.Sprintf("Drop to copy to “%s” on %s", path.Base(dir), s.e.Feed.Machines.Get().Name(id))
	return Drop{Area: area, Text: text, IsMarked: true, Do: func(paths []string) { s.sendTo(paths, id, dir) }}
}

// OnPage asks for the machine in a menu at a position of the window.
func (s *Sender) OnPage(at fyne.Position, area fyne.CanvasObject) Drop {
	return Drop{Area: area, Text: "Drop to choose a machine", Do: func(paths []string) { s.askMachine(paths, at) }}
}

// OnChat attaches pictures to the message, and sends other files to the chat's machine, unless that
// is this computer.
func (s *Sender) OnChat(c Chat) Drop {
	v := s.e.Feed.View()
	n, _ := v.Machines.Find(c.Node())
	isHere := n.Local && !v.Status.Remote // the files are on the machine already: insert their paths
	text := "Drop to attach"
	if !isHere {
		text = fmt.Sprintf("Drop to send to %s. Pictures are attached.", cmp.Or(v.Machines.Name(c.Node()), "a machine"))
	}
	return Drop{Area: c, Text: text, Do: func(paths []string) {
		bind.Go(s.ctx, func(context.Context) ([2][]string, error) {
			pictures, others := picture.Separate(paths)
			return [2][]string{pictures, others}, nil
		}, func(kinds [2][]string, _ error) {
			if len(kinds[0]) > 0 {
				c.AddFiles(kinds[0])
			}
			switch {
			case len(kinds[1]) == 0:
			case isHere:
				c.AddFiles(kinds[1])
			default:
				s.Send(kinds[1], c.Node())
			}
		})
	}}
}
