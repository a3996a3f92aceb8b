package chats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// LoadOutput loads the whole output of a call that has ended. It blocks.
func LoadOutput(ctx context.Context, g feed.Gateway, id protocol.CallID) (string, error) {
	r, err := feed.Call(ctx, g, protocol.JournalList, protocol.JournalListParams{CallID: id, Limit: 1})
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

// UndoCall reverts the change of a file that a call made, or with redo repeats it. It blocks.
func UndoCall(ctx context.Context, g feed.Gateway, call protocol.CallInfo, redo bool) error {
	path := ""
	if call.Preview != nil {
		path = call.Preview.Path
	}
	p := protocol.FilesChangeParams{Node: call.Node, CallID: call.CallID, Path: path, Redo: redo}
	if !redo {
		if d, err := feed.Call(ctx, g, protocol.FilesDiff, p); err == nil && d.State == protocol.ChangeReverted {
			return ErrAlreadyUndone
		}
	}
	err := feed.Send(ctx, g, protocol.FilesRevert, p)
	if err == nil {
		return nil
	}
	if d, e := feed.Call(ctx, g, protocol.FilesDiff, p); e == nil && d.State == protocol.ChangeAltered {
		if redo {
			return errors.New("the file was changed since, so this change cannot be repeated")
		}
		return errors.New("the file was changed again since, so this change cannot be undone by itself; undo the later changes first")
	}
	return err
}

// Media loads a stored picture. It blocks.
func Media(ctx context.Context, g feed.Gateway, key string) ([]byte, error) {
	r, err := feed.Call(ctx, g, protocol.MediaGet, protocol.MediaGetParams{Key: key})
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(r.Data)
}

// Pictures loads the pictures of a stored message, to be sent again. It blocks.
func Pictures(ctx context.Context, g feed.Gateway, content protocol.Content) ([]protocol.Attachment, error) {
	var list []protocol.Attachment
	for _, b := range content {
		if b.Type != protocol.BlockImage || b.MediaKey == "" {
			continue
		}
		r, err := feed.Call(ctx, g, protocol.MediaGet, protocol.MediaGetParams{Key: b.MediaKey})
		if err != nil {
			return nil, err
		}
		list = append(list, protocol.Attachment{Filename: b.Filename, MimeType: b.MimeType, Data: r.Data})
	}
	return list, nil
}
