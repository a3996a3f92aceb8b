package chats

import (
	"testing"
	"testing/synctest"
	"time"

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
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) { history(f, 2*pageSize+7) }, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		v := c.Value.Get()
		if v.Loading || !v.More || len(v.List) != pageSize || v.List[pageSize-1].Seq != 2*pageSize+7 {
			t.Fatalf("first page: loading %v, more %v, %d messages; want false, true and %d", v.Loading, v.More, len(v.List), pageSize)
		}
		for range 4 {
			c.Older()
			synctest.Wait()
		}
		v = c.Value.Get()
		if v.More || len(v.List) != 2*pageSize+7 || v.List[0].Seq != 1 {
			t.Errorf("all pages: more %v, %d messages; want false and %d", v.More, len(v.List), 2*pageSize+7)
		}
		for i, m := range v.List {
			if m.Seq != int64(i+1) {
				t.Fatalf("message %d has number %d, want %d", i, m.Seq, int64(i+1))
			}
		}
		if n := len(f.Called(protocol.SessionPreview.Name)); n != 3 {
			t.Errorf("%d loads, want 3", n)
		}
	})
}

func TestChatOpenedBeforeTheConnectionLoadsWithIt(t *testing.T) {
	a := newChatFeed()
	c := a.chats.Open("a")
	if !c.Value.Get().Loading {
		t.Error("it does not say that it is loading")
	}
	a.Close()
}

func TestMessageDuringTheLoadIsShownOnce(t *testing.T) {
	release := make(chan struct{})
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		release = make(chan struct{})
		feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			<-release
			return protocol.SessionPreviewResult{Messages: []protocol.Message{text(1, "one"), text(2, "two")}}, nil
		})
	}, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		m2, m3 := text(2, "two"), text(3, "three")
		f.Change(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m2},
			protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m3})
		close(release)
		synctest.Wait()
		if got := texts(c.Value.Get().List); got != "one two three" {
			t.Errorf(`messages: got %s, want "one two three"`, got)
		}
	})
}

func TestResetEmptiesTheChat(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) { history(f, 3) }, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		history(f, 0)
		f.Change(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: "a"})
		if v := c.Value.Get(); len(v.List) != 0 || v.Loading || v.More {
			t.Errorf("after the reset: %+v", v)
		}
		m := text(1, "anew")
		f.Change(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: "a", Message: &m})
		if got := texts(c.Value.Get().List); got != "anew" {
			t.Errorf(`messages: got %s, want "anew"`, got)
		}
	})
}

func TestFailedLoadSaysWhyAndCanBeTriedAgain(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
			return protocol.SessionPreviewResult{}, protocol.ErrStorage.With("the disk is full")
		})
	}, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		if v := c.Value.Get(); v.Loading || v.Problem != "The disk is full" {
			t.Fatalf(`loading %v, problem %q; want false and "The disk is full"`, v.Loading, v.Problem)
		}
		history(f, 1)
		c.Reload()
		synctest.Wait()
		if v := c.Value.Get(); v.Problem != "" || len(v.List) != 1 {
			t.Errorf("after another try: %+v", v)
		}
	})
}

func TestReconnectLoadsTheChatAgain(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) { history(f, 1) }, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		history(f, 4)
		f.Cut()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(c.Value.Get().List); n != 4 {
			t.Errorf("%d messages after the reconnect, want 4", n)
		}
	})
}

func TestChatLoadsBackToAMessage(t *testing.T) {
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) { history(f, 5000) }, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		if err := c.Reach(t.Context(), 1200); err != nil {
			t.Fatal(err)
		}
		v := c.Value.Get()
		if first := v.List[0].Seq; first > 1200 || first < 1000 || len(v.List) != int(5000-first+1) {
			t.Errorf("%d messages from %d on; want %d and at most 1200", len(v.List), first, int(5000-first+1))
		}
		if n := len(f.Called(protocol.SessionPreview.Name)); n > 6 {
			t.Errorf("got %d loads, want at most 6", n)
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

// TestScrollPositionSurvivesADeletedMessage: the messages are shown until the new ones are
// there, and as many are loaded as were shown.
func TestScrollPositionSurvivesADeletedMessage(t *testing.T) {
	var limits []int
	hold := time.Duration(0)
	feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
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
	}, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
		c := a.chats.Open("a")
		synctest.Wait()
		c.Older()
		synctest.Wait()
		hold = time.Second
		f.Change(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: "a"})
		if n := len(c.Value.Get().List); n != 2*pageSize {
			t.Errorf("during the load %d messages are shown, want %d", n, 2*pageSize)
		}
		time.Sleep(2 * time.Second)
		if n := len(c.Value.Get().List); n != 2*pageSize || limits[2] != 2*pageSize {
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
			feedtest.Run(t, newChatFeed, func(f *feedtest.Gateway) {
				feedtest.On(f, protocol.SessionPreview, func(protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
					return protocol.SessionPreviewResult{Messages: c.messages}, nil
				})
			}, func(t *testing.T, a *chatFeed, f *feedtest.Gateway) {
				v := a.chats.Open("a").Value
				synctest.Wait()
				if got := v.Get(); len(got.List) != 2 || got.More != c.want {
					t.Errorf("%d messages, more %v, want %v", len(got.List), got.More, c.want)
				}
			})
		})
	}
}
