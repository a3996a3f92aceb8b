package feed

import (
	"maps"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Runs has the runs. Their texts are in [Texts], which change much more often.
type Runs struct {
	List []protocol.RunInfo // active runs, and the latest failed run of each chat
	// Ended are the runs that ended while this window was open, oldest first.
	Ended []protocol.RunInfo
}

// maxEnded is the number of ended runs, and of finished transfers, that are retained.
const maxEnded = 32

// apply applies a run's state, and remembers a run that ends.
func (l *Runs) apply(r protocol.RunInfo) {
	same := func(x protocol.RunInfo) bool { return x.RunID == r.RunID }
	r.Text, r.Thinking = "", ""
	if r.Over() && slices.ContainsFunc(l.List, func(x protocol.RunInfo) bool { return same(x) && !x.Over() }) {
		l.Ended = append(slices.Clone(l.Ended), r)
		l.Ended = l.Ended[max(0, len(l.Ended)-maxEnded):]
	}
	if r.Over() && r.State != protocol.RunFailed {
		l.List = lists.Without(l.List, same)
		return
	}
	list := l.List
	if r.State != protocol.RunQueued { // a new run replaces an old failure
		list = lists.Without(list, func(x protocol.RunInfo) bool {
			return x.SessionKey == r.SessionKey && x.State == protocol.RunFailed && x.RunID != r.RunID
		})
	}
	l.List = lists.Replace(list, r, same)
}

// Text is what a run has written of its present step.
type Text struct {
	Step           int
	Text, Thinking string
}

// Texts are the texts of the runs until the messages with them are stored.
type Texts map[protocol.RunID]Text

func textsOf(runs []protocol.RunInfo) Texts {
	t := make(Texts, len(runs))
	for _, r := range runs {
		t[r.RunID] = Text{r.Step, r.Text, r.Thinking}
	}
	return t
}

func withoutTexts(runs []protocol.RunInfo) []protocol.RunInfo {
	return lists.Map(runs, func(r protocol.RunInfo) protocol.RunInfo {
		r.Text, r.Thinking = "", ""
		return r
	})
}

// withRun returns the texts of some runs after a change of one of them. A text is retained until its
// step is complete.
func (t Texts) withRun(r protocol.RunInfo, runs []protocol.RunInfo) Texts {
	out := make(Texts, len(runs))
	for _, x := range runs {
		out[x.RunID] = t[x.RunID]
	}
	now, known := t[r.RunID]
	if _, listed := out[r.RunID]; listed && (!known || r.Over() || now.Step != r.Step) {
		out[r.RunID] = Text{r.Step, r.Text, r.Thinking}
	}
	return out
}

// withDelta appends to a run's text, unless a piece is missing, as for a slow window.
func (t Texts) withDelta(d protocol.Delta) Texts {
	now, known := t[d.RunID]
	if !known || d.Step < now.Step || d.Offset < 0 {
		return t
	}
	if d.Step > now.Step {
		now = Text{Step: d.Step}
	}
	text := &now.Text
	if d.Thinking {
		text = &now.Thinking
	}
	skip := len(*text) - d.Offset
	if skip < 0 || skip >= len(d.Text) {
		return t // a piece is missing, or the text has this piece already
	}
	*text += d.Text[skip:]
	return t.with(d.RunID, now)
}

// cleared returns the texts without that of a run whose message is stored.
func (t Texts) cleared(id protocol.RunID) Texts {
	now, known := t[id]
	if !known {
		return t
	}
	return t.with(id, Text{Step: now.Step})
}

func (t Texts) with(id protocol.RunID, text Text) Texts {
	out := maps.Clone(t)
	out[id] = text
	return out
}

// In returns the runs of a chat with their texts.
func (l Runs) In(key protocol.SessionKey, t Texts) []protocol.RunInfo {
	var list []protocol.RunInfo
	for _, r := range l.List {
		if r.SessionKey != key {
			continue
		}
		if now, known := t[r.RunID]; known {
			r.Step, r.Text, r.Thinking = max(r.Step, now.Step), now.Text, now.Thinking
		}
		list = append(list, r)
	}
	return list
}

// ShownElsewhere reports whether another client shows the answer of a run, because its person sent
// the message there: a terminal, the window of another program or another computer.
func ShownElsewhere(v View, r protocol.RunInfo) bool {
	name, isOwner := strings.CutPrefix(r.By, "owner ")
	if !isOwner || name == "this computer" {
		return false
	}
	isTerminal := strings.HasPrefix(name, "cli-") || name == "(command line)"
	return isTerminal || !v.Status.Remote // a window does not know by which name another gateway calls it
}
