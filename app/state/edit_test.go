package state

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestMessagesAreEditedDeletedAndForkedInTheirChat(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.ChatResend, func(p protocol.ChatResendParams) (protocol.ChatResendResult, error) {
			return protocol.ChatResendResult{ArchiveID: protocol.ArchiveID("before " + *p.Message + " in " + string(p.SessionKey))}, nil
		})
		feedtest.On(f, protocol.MessageDelete, func(p protocol.MessageParams) (protocol.MessageDeleteResult, error) {
			return protocol.MessageDeleteResult{ArchiveID: protocol.ArchiveID(p.MessageID), UndoUntil: 5000}, nil
		})
		feedtest.On(f, protocol.SessionFork, func(p protocol.SessionForkParams) (protocol.SessionEntry, error) {
			if !p.Before {
				return protocol.SessionEntry{}, protocol.ErrConflict.With("it is still being written")
			}
			return protocol.SessionEntry{SessionKey: p.SessionKey + "2"}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		text := "new"
		if id, err := c.Resend(t.Context(), protocol.ChatResendParams{MessageID: "m", Message: &text}); err != nil || id != "before new in a" {
			t.Errorf("resend: %q, %v", id, err)
		}
		if id, until, err := c.DeleteMessage(t.Context(), "m"); err != nil || id != "m" || !until.Equal(time.UnixMilli(5000)) {
			t.Errorf("delete: %q until %v, %v", id, until, err)
		}
		if key, err := c.Fork(t.Context(), "m", true); err != nil || key != "a2" {
			t.Errorf("fork: %q, %v", key, err)
		}
		if _, err := c.Fork(t.Context(), "m", false); err == nil {
			t.Error("an error of the gateway is hidden")
		}
		if err := c.RestoreMessages(t.Context(), "m"); err != nil || len(f.Called(protocol.SessionArchiveRestore.Name)) != 1 {
			t.Errorf("undo: %v", err)
		}
	})
}

// TestReaderStaysWhereTheyAreWhenAMessageIsDeleted: the messages are shown until the new ones are
// there, and as many are loaded as were shown.
func TestReaderStaysWhereTheyAreWhenAMessageIsDeleted(t *testing.T) {
	var limits []int
	hold := time.Duration(0)
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionPreview, func(p protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			time.Sleep(hold)
			limits = append(limits, p.Limit)
			var out protocol.SessionPreviewResult
			for seq := int64(1); seq <= 400; seq++ {
				if p.Before == 0 || seq < p.Before {
					out.Messages = append(out.Messages, text(seq, "x"))
				}
			}
			out.Messages = out.Messages[max(len(out.Messages)-p.Limit, 0):]
			return out, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		c.Older()
		synctest.Wait()
		hold = time.Second
		f.Change(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: "a"})
		if n := len(c.Value.Get().Messages); n != 2*pageSize {
			t.Errorf("during the load %d messages are shown, want %d", n, 2*pageSize)
		}
		time.Sleep(2 * time.Second)
		if n := len(c.Value.Get().Messages); n != 2*pageSize || limits[2] != 2*pageSize {
			t.Errorf("afterwards %d messages are shown; loaded %v", n, limits)
		}
	})
}

func TestDeletedBeginningIsNotWaitedFor(t *testing.T) {
	summary := text(9, "summary")
	summary.Compaction = &protocol.Compaction{Through: 5}
	for name, c := range map[string]struct {
		messages []protocol.Message
		want     bool
	}{"the first message was edited": {[]protocol.Message{text(3, "x"), text(4, "y")}, false}, "a summary": {[]protocol.Message{text(6, "x"), summary}, true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(f *feedtest.Gateway) {
				feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
					return protocol.SessionPreviewResult{Messages: c.messages}, nil
				})
			}, func(t *testing.T, a *App, f *feedtest.Gateway) {
				v := a.Chats.Open("a").Value
				synctest.Wait()
				if got := v.Get(); len(got.Messages) != 2 || got.More != c.want {
					t.Errorf("%d messages, more %v, want %v", len(got.Messages), got.More, c.want)
				}
			})
		})
	}
}
