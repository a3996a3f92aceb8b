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

// warnAboutPictures leaves a notice, once per run, before a picture is sent to a model that cannot
// see pictures according to its provider.
func (r *Run) warnAboutPictures(ctx context.Context) error {
	if r.Info.Images || r.hasPictureNotice {
		return nil
	}
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.StopReason == protocol.StopBlind, m.Role == protocol.RoleAssistant && m.Origin != protocol.OriginNotice:
			return nil
		case m.OutsideConversation() || !hasPicture(m):
			continue
		}
		return r.postPictureNotice(ctx, r.Ref.ID+" cannot see pictures, according to its provider. It is only told that there is one.", m.Timestamp)
	}
	return nil
}

// retryWithoutPictures replaces pictures with text when the model's server refused a request
// because of them, so that the run can continue. Not every server declares what its models accept,
// and a chat with a picture would otherwise fail at every message. again is false when the request
// failed for another reason.
func (r *Run) retryWithoutPictures(ctx context.Context, why error) (again bool, err error) {
	if !r.Info.Images || !refusesPictures(why) || !slices.ContainsFunc(r.History, hasPicture) {
		return false, nil
	}
	r.Info.Images = false
	text := fmt.Sprintf("%s refused the pictures. It is only told that there are some. %s", r.Ref.ID, why)
	return true, r.postPictureNotice(ctx, text, time.Now().UnixMilli())
}

func (r *Run) postPictureNotice(ctx context.Context, text string, at int64) error {
	r.hasPictureNotice = true
	stored, err := r.Sink.Append(ctx, protocol.Message{
		RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, StopReason: protocol.StopBlind, Timestamp: at, Content: protocol.Content{protocol.Text(text)},
	})
	r.History = append(r.History, stored...)
	return err
}

func hasPicture(m protocol.Message) bool {
	return slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockImage })
}

// refusesPictures reports whether a server's error message is about pictures. Some only say that a
// message must be a text.
func refusesPictures(err error) bool {
	if !errors.Is(err, protocol.ErrModel) {
		return false
	}
	said := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{"image", "vision", "multimodal", "multi-modal", "mmproj", "a string", "valid string"}, func(word string) bool { return strings.Contains(said, word) })
}
