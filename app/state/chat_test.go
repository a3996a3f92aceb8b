package state

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

// history adds n messages to the gateway, which returns them in pages.
func history(f *feedtest.Gateway, n int64) {
	feedtest.On(f, protocol.SessionPreview, func(p protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
		end := n
		if p.Before > 0 {
			end = p.Before - 1
		}
		begin := int64(1)
		if p.Limit > 0 {
			begin = max(1, end-int64(p.Limit)+1)
		}
		var out protocol.SessionPreviewResult
		for i := begin; i <= end; i++ {
			out.Messages = append(out.Messages, text(i, "m"))
		}
		return out, nil
	})
}

func TestChatLoadsTheNewestPageAndThenOlderOnes(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) { history(f, 2*pageSize+7) }, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		v := c.Value.Get()
		if v.Loading || !v.More || len(v.Messages) != pageSize || v.Messages[pageSize-1].Seq != 2*pageSize+7 {
			t.Fatalf("first page: loading %v, more %v, %d messages", v.Loading, v.More, len(v.Messages))
		}
		for range 4 {
			c.Older()
			synctest.Wait()
		}
		v = c.Value.Get()
		if v.More || len(v.Messages) != 2*pageSize+7 || v.Messages[0].Seq != 1 {
			t.Errorf("all pages: more %v, %d messages", v.More, len(v.Messages))
		}
		for i, m := range v.Messages {
			if m.Seq != int64(i+1) {
				t.Fatalf("message %d has number %d", i, m.Seq)
			}
		}
		if n := len(f.Called(protocol.SessionPreview.Name)); n != 3 {
			t.Errorf("%d loads, want 3", n)
		}
	})
}

func TestChatOpenedBeforeTheConnectionLoadsWithIt(t *testing.T) {
	a := NewApp()
	c := a.Chats.Open("a")
	if !c.Value.Get().Loading {
		t.Error("it does not say that it is loading")
	}
	a.Close()
}

func TestMessageThatArrivesDuringTheLoadIsKeptOnce(t *testing.T) {
	release := make(chan struct{})
	bubble(t, func(f *feedtest.Gateway) {
		release = make(chan struct{})
		feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			<-release
			return protocol.SessionPreviewResult{Messages: []protocol.Message{text(1, "one"), text(2, "two")}}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		m2, m3 := text(2, "two"), text(3, "three")
		f.Change(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m2},
			protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m3})
		close(release)
		synctest.Wait()
		if got := texts(c.Value.Get().Messages); got != "one two three" {
			t.Errorf("messages: %s", got)
		}
	})
}

func TestResetEmptiesTheChat(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) { history(f, 3) }, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		history(f, 0)
		f.Change(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: "a"})
		if v := c.Value.Get(); len(v.Messages) != 0 || v.Loading || v.More {
			t.Errorf("after the reset: %+v", v)
		}
		m := text(1, "anew")
		f.Change(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m})
		if got := texts(c.Value.Get().Messages); got != "anew" {
			t.Errorf("messages: %s", got)
		}
	})
}

func TestFailedLoadSaysWhyAndCanBeTriedAgain(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			return protocol.SessionPreviewResult{}, protocol.ErrStorage.With("the disk is full")
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		if v := c.Value.Get(); v.Loading || v.Problem != "The disk is full" {
			t.Fatalf("loading %v, problem %q", v.Loading, v.Problem)
		}
		history(f, 1)
		c.Reload()
		synctest.Wait()
		if v := c.Value.Get(); v.Problem != "" || len(v.Messages) != 1 {
			t.Errorf("after another try: %+v", v)
		}
	})
}

func TestReconnectLoadsTheChatAgain(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) { history(f, 1) }, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		synctest.Wait()
		history(f, 4)
		f.Cut()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(c.Value.Get().Messages); n != 4 {
			t.Errorf("%d messages after the reconnect, want 4", n)
		}
	})
}

func TestSendTellsWhatBecameOfIt(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.ChatSend, func(p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
			if p.SessionKey != "a" || p.Node != "nas" || len(p.Attachments) != 1 {
				return protocol.ChatSendResult{}, protocol.ErrBadRequest
			}
			return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: "r", Queued: true}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		r, err := a.Chats.Open("a").Send(t.Context(), "hello", []protocol.Attachment{{MimeType: "image/png"}}, "nas")
		if err != nil || !r.Queued {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := a.Chats.Open("a").Send(t.Context(), "hello", nil, ""); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("a refused message: %v", err)
		}
	})
}

func TestSendThatIsNotAnsweredGivesUp(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.ChatSend, func(protocol.ChatSendParams) (protocol.ChatSendResult, error) {
			time.Sleep(2 * feed.ActionTimeout)
			return protocol.ChatSendResult{}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		began := time.Now()
		_, err := a.Chats.Open("a").Send(t.Context(), "hello", nil, "")
		if err == nil || time.Since(began) != feed.ActionTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.Sleep(2 * feed.ActionTimeout)
	})
}

func TestChatLoadsBackToAMessage(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) { history(f, 5000) }, func(t *testing.T, a *App, f *feedtest.Gateway) {
		c := a.Chats.Open("a")
		if err := c.Reach(t.Context(), 1200); err != nil {
			t.Fatal(err)
		}
		v := c.Value.Get()
		if first := v.Messages[0].Seq; first > 1200 || first < 1000 || len(v.Messages) != int(5000-first+1) {
			t.Errorf("%d messages from %d on", len(v.Messages), first)
		}
		if n := len(f.Called(protocol.SessionPreview.Name)); n > 6 {
			t.Errorf("%d loads", n)
		}
		before := len(f.Called(protocol.SessionPreview.Name))
		if err := c.Reach(t.Context(), 4999); err != nil || len(f.Called(protocol.SessionPreview.Name)) != before {
			t.Errorf("a message that is there is loaded again: %v", err)
		}
		feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			return protocol.SessionPreviewResult{}, protocol.ErrInternal.With("the disk is full")
		})
		if err := c.Reach(t.Context(), 1); err == nil {
			t.Error("a failure is not told")
		}
	})
}
