package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chats"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func inPage(t *testing.T, mode style.Mode, width float32) (p *Page, w fyne.Window, h *pagetest.Host) {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	h = &pagetest.Host{}
	p = New(ctx, host.Env{Host: h, Feed: app.Feed, Chats: app.Chats, Machines: &style.Machines{}, Prefs: new(preferences.Store)})
	p.key = "agent:main:2"
	p.draw()
	p.now = pagetest.Clock
	return p, pagetest.Window(t, p.Box, width, 600), h
}

func archives(n int) []protocol.ArchiveInfo {
	var list []protocol.ArchiveInfo
	for i := range n {
		list = append(list, protocol.ArchiveInfo{
			ID: protocol.ArchiveID(fmt.Sprint("a", i)), Kind: protocol.ArchiveReset, Messages: 24 + i, Tokens: protocol.Tokens{Total: 12400},
			CreatedAt: pagetest.Noon.Add(-time.Duration(i+1) * 30 * time.Hour).UnixMilli(),
		})
	}
	return list
}

func conversationOf(n int) chats.Messages {
	v := chats.Messages{Key: "agent:main:2"}
	for i := range n {
		v.List = append(v.List, protocol.Message{
			ID: protocol.MessageID(fmt.Sprint("m", i)), Seq: int64(i + 1), Role: protocol.RoleUser, Timestamp: pagetest.Noon.UnixMilli(),
			Content: protocol.Content{protocol.Text(fmt.Sprint("message ", i))},
		})
	}
	return v
}

func TestViewsMatchGolden(t *testing.T) {
	p, _, _ := inPage(t, style.Light, 880)
	golden.Markup(t, "loading", p.Box)
	p.fill(nil, errors.New("the disk is full"))
	golden.Markup(t, "problem", p.Box)
	p.fill(nil, nil)
	golden.Markup(t, "empty", p.Box)
	p.fill(archives(3), nil)
	golden.Markup(t, "list", p.Box)
	for name, mode := range map[string]style.Mode{"read": style.Light, "read-dark": style.Dark} {
		for _, width := range []float32{880, 520} {
			p, w, _ := inPage(t, mode, width)
			p.showReader(archives(1)[0], p.model.Open(p.key, "a0"))
			p.show(conversationOf(3))
			pagetest.Shot(t, w, fmt.Sprint("archive-", name, width))
			golden.Markup(t, fmt.Sprint(name, width), p.Box)
		}
	}
}

func TestThousandsOfArchivesAreListed(t *testing.T) {
	p, _, h := inPage(t, style.Light, 880)
	p.fill(archives(3000), nil)
	if n := len(p.list.Items()); n != 3000 {
		t.Errorf("got %d lines, want 3000", n)
	}
	test.Tap(pagetest.Button(t, p.Box, "Back to chat"))
	if got, want := h.Did, []string{"chat {agent:main:2  <nil>}"}; !slices.Equal(got, want) {
		t.Errorf("did: got %q, want %q", got, want)
	}
}

func TestArchiveIsReadOnly(t *testing.T) {
	p, _, _ := inPage(t, style.Light, 880)
	p.fill(archives(2), nil)
	p.showReader(p.archives[1], p.model.Open(p.key, "a1"))
	p.show(conversationOf(80))
	p.reader.View().Reveal("m10", "")
	pagetest.Shows(t, p.Box, "Archived on", "25 messages", "message 10")
	widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
		if _, ok := o.(interface{ SetPlaceHolder(text string) }); ok {
			t.Errorf("%T can be written in", o)
		}
	})
	test.Tap(pagetest.Button(t, p.Box, "Earlier conversations"))
	if p.reader != nil {
		t.Error("it is still shown")
	}
	pagetest.Shows(t, p.Box, "Until")
}

func TestAFailedRestoreOfAnArchiveCanBeRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, h := inPage(t, style.Light, 880)
		p.showReader(archives(1)[0], p.model.Open(p.key, "a0"))
		bring := pagetest.Button(t, p.Box, "Restore")
		test.Tap(bring)
		pagetest.Settle() // there is no gateway
		if len(h.Did) != 1 || !strings.Contains(h.Did[0], "not connected") || bring.Disabled() {
			t.Errorf("did %q, disabled %v", h.Did, bring.Disabled())
		}
	})
}
