package terminal

import (
	"slices"
	"time"

	"fairlead/gateway/protocol"
)

// terminal is a terminal with its viewers. [Terminals.mu] guards it.
type terminal struct {
	info       protocol.Terminal // as its machine reported it
	unreported time.Time         // when it was opened, until its machine reports it
	viewers    []*viewer
	typist     *viewer   // nil: nobody types, or the agent does
	before     []*viewer // who typed before, the last one at the end
	request    *viewer   // asks the typist to take over; nil if nobody does
}

// now describes the terminal with its viewers.
func (x *terminal) now() protocol.Terminal {
	info := x.info
	info.Viewers = len(x.viewers)
	if x.typist != nil {
		info.Typist = x.typist.Name
	}
	return info
}

// canBeTyped reports whether anybody can type.
func (x *terminal) canBeTyped() bool { return !x.info.WatchOnly && x.info.EndedAt == 0 }

// add adds a viewer, which becomes the typist if it wants to and nobody is. The agent types in its own
// commands until somebody takes over.
func (x *terminal) add(v *viewer) {
	x.viewers = append(x.viewers, v)
	if x.typist == nil && !v.Watch && x.info.CommandID == "" && x.canBeTyped() {
		x.typist = v
	}
	x.notify()
}

// remove removes a viewer. If it typed, who asked for that types now, or who did before.
func (x *terminal) remove(v *viewer) {
	isIt := func(o *viewer) bool { return o == v }
	x.viewers, x.before = slices.DeleteFunc(x.viewers, isIt), slices.DeleteFunc(x.before, isIt)
	if x.request == v {
		x.request = nil
	}
	if x.typist == v {
		x.next()
	}
	x.notify()
}

// next passes the terminal on from its typist.
func (x *terminal) next() {
	x.typist = x.request
	x.request = nil
	if n := len(x.before); x.typist == nil && n > 0 {
		x.typist, x.before = x.before[n-1], x.before[:n-1]
	}
}

// takeOver makes a viewer the typist, or asks the present one. It reports whether it is the typist
// now and was not before.
func (x *terminal) takeOver(v *viewer) bool {
	switch {
	case x.typist == v || !x.canBeTyped():
		return false
	case x.typist != nil && v.MustAsk:
		if x.request == nil {
			x.request = v
			x.notify()
		}
		return false
	}
	x.become(v)
	return true
}

func (x *terminal) become(v *viewer) {
	isIt := func(o *viewer) bool { return o == v }
	x.before = slices.DeleteFunc(x.before, isIt)
	if x.typist != nil {
		x.before = append(x.before, x.typist)
	}
	if x.request == v {
		x.request = nil
	}
	x.typist = v
	x.notify()
}

// giveBack ends that a viewer types.
func (x *terminal) giveBack(v *viewer) {
	switch v {
	case x.request:
		x.request = nil
	case x.typist:
		x.next()
	default:
		return
	}
	x.notify()
}

// allow is the typist's answer to who asks to take over.
func (x *terminal) allow(v *viewer, yes bool) {
	if x.typist != v || x.request == nil {
		return
	}
	if r := x.request; yes {
		x.become(r)
		return
	}
	x.request = nil
	x.notify()
}

// notify makes each viewer send its state.
func (x *terminal) notify() {
	for _, v := range x.viewers {
		v.changed.Send()
	}
}

// state returns the state for one viewer, without what its stream says.
func (x *terminal) state(v *viewer) protocol.TerminalState {
	s := protocol.TerminalState{Typing: x.typist == v, Viewers: len(x.viewers), WatchOnly: x.info.WatchOnly}
	if x.typist != nil {
		s.Typist = x.typist.Name
	}
	if x.request != nil {
		s.Request = x.request.Name
	}
	return s
}
