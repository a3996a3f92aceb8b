package state

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Output loads the whole output of a call that has ended. It blocks.
func (c *Chat) Output(ctx context.Context, id protocol.CallID) (string, error) {
	r, err := feed.Call(ctx, c.app, protocol.JournalList, protocol.JournalListParams{CallID: id, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(r.Calls) == 0 || len(r.Calls[0].Output) == 0 {
		return "", errors.New("the rest of this output is no longer available")
	}
	text := string(r.Calls[0].Output)
	var s string
	if json.Unmarshal(r.Calls[0].Output, &s) == nil {
		text = s
	}
	var part struct {
		Truncated bool
		Preview   string
	}
	if json.Unmarshal(r.Calls[0].Output, &part) == nil && part.Truncated && part.Preview != "" {
		text = part.Preview
	}
	text, _ = display.LeftOut(display.Readable(text))
	return text, nil
}

// ErrAlreadyUndone means that a file is as it was before the change that shall be undone.
var ErrAlreadyUndone = errors.New("this change was already undone")

// Undo reverts the change of a file that a call made, or with redo repeats it. It blocks.
func (c *Chat) Undo(ctx context.Context, call protocol.CallInfo, redo bool) error {
	path := ""
	if call.Preview != nil {
		path = call.Preview.Path
	}
	p := protocol.FilesChangeParams{Node: call.Node, CallID: call.CallID, Path: path, Redo: redo}
	if !redo {
		if d, err := feed.Call(ctx, c.app, protocol.FilesDiff, p); err == nil && d.State == protocol.ChangeReverted {
			return ErrAlreadyUndone
		}
	}
	err := feed.Send(ctx, c.app, protocol.FilesRevert, p)
	if err == nil {
		return nil
	}
	if d, e := feed.Call(ctx, c.app, protocol.FilesDiff, p); e == nil && d.State == protocol.ChangeAltered {
		if redo {
			return errors.New("the file was changed since, so this change cannot be repeated")
		}
		return errors.New("the file was changed again since, so this change cannot be undone by itself; undo the later changes first")
	}
	return err
}

// LineCount counts lines, such as "12,345 lines".
func LineCount(n int) string {
	digits, words, _ := strings.Cut(wording.Plural(n, "line", "lines"), " ")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + words
}
