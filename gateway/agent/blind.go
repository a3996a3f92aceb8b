package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// blind leaves a notice, once in a run, where the model is about to be told of a picture that it does not see, as its provider says.
func (r *Run) blind(ctx context.Context) error {
	if r.Info.Images || r.toldBlind {
		return nil
	}
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.StopReason == protocol.StopBlind, m.Role == protocol.RoleAssistant && m.Origin != protocol.OriginNotice:
			return nil
		case m.Beside() || !pictured(m):
			continue
		}
		return r.tellBlind(ctx, r.Ref.ID+" takes no pictures, as far as its provider tells: it is told that there is one.", m.Timestamp)
	}
	return nil
}

// unseen has the run go on with words in place of the pictures when the model's server refused a request because of them: not every server says
// beforehand what its models take, and a chat in which there is a picture would fail at each message. again is false where that is not why.
func (r *Run) unseen(ctx context.Context, why error) (again bool, err error) {
	if !r.Info.Images || !refusesPictures(why) || !slices.ContainsFunc(r.History, pictured) {
		return false, nil
	}
	r.Info.Images = false
	text := fmt.Sprintf("%s is told in words that there are pictures, for they were refused. %s", r.Ref.ID, why)
	return true, r.tellBlind(ctx, text, time.Now().UnixMilli())
}

func (r *Run) tellBlind(ctx context.Context, text string, at int64) error {
	r.toldBlind = true
	stored, err := r.Sink.Append(ctx, protocol.Message{
		RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, StopReason: protocol.StopBlind, Timestamp: at, Content: protocol.Content{protocol.Text(text)},
	})
	r.History = append(r.History, stored...)
	return err
}

func pictured(m protocol.Message) bool {
	return slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockImage })
}

// refusesPictures reports whether a server's words are about pictures. Some say only that a message must be a text.
func refusesPictures(err error) bool {
	if !errors.Is(err, protocol.ErrModel) {
		return false
	}
	said := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{"image", "vision", "multimodal", "multi-modal", "mmproj", "a string", "valid string"}, func(word string) bool { return strings.Contains(said, word) })
}
