package exposure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	w       fyne.Window
	reloads int
	*pagetest.Host
}

func inPage(t testing.TB, mode style.Mode, width float32) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	b := &bench{Host: &pagetest.Host{}}
	b.Page = newPage(ctx, app.Feed, func() { b.reloads++ }, host.Env{Host: b.Host, Feed: app.Feed})
	b.now = pagetest.Clock
	b.w = pagetest.Window(t, b.Box, width, 900)
	return b
}

// everything has each kind and each warning.
func everything() feed.View {
	ago := func(d time.Duration) int64 { return pagetest.Noon.Add(-d).UnixMilli() }
	closing := func(button string, undo bool) *protocol.ExposureClose {
		c := &protocol.ExposureClose{Button: button, Ends: "What it has begun ends at once.", Call: protocol.MethodCall{Method: "close", Params: []byte(`{}`)}}
		if undo {
			c.Undo = &protocol.MethodCall{Method: "open", Params: []byte(`{}`)}
		}
		return c
	}
	const day = 24 * time.Hour
	return feed.View{Exposures: feed.Exposures{Loaded: true, List: []protocol.Exposure{
		{ID: "listener:network", Kind: protocol.ExposureListener, Title: "192.168.1.20:8788", Reach: "Paired machines and clients reach the gateway, encrypted. Others can only ask to be paired.", Warnings: []string{protocol.WarnNetwork}, LastUsedAt: ago(time.Minute), Close: closing("Turn off", false)},
		{ID: "listener:local", Kind: protocol.ExposureListener, Title: "127.0.0.1:8787", Reach: "Programs on this computer reach the gateway, each with a token.", LastUsedAt: ago(time.Hour)},
		{ID: "service:wiki", Kind: protocol.ExposureService, Title: "Wiki", IsPublic: true, Reach: "Everyone who reaches the address, without a sign-in. http://wiki-1.localhost:8787 leads to http://127.0.0.1:3000/ on nas.", Warnings: []string{protocol.WarnPublic, protocol.WarnUnused}, CreatedAt: ago(40 * day), Close: closing("Turn off", false)},
		{ID: "forward:1", Kind: protocol.ExposureForward, Title: "127.0.0.1:5432 leads to localhost:5432 on nas", Reach: "Programs on this computer reach localhost:5432 on nas.", IsInUse: true, Close: closing("Close", false)},
		{ID: "token:gateway", Kind: protocol.ExposureToken, Title: "The gateway's own token", Reach: "The command line and other programs with it may do everything that you may.", LastUsedAt: ago(time.Minute)},
		{ID: "app:editor", Kind: protocol.ExposureApp, Title: "Editor", Reach: "May read files on all machines. You are asked as your rules say.", Warnings: []string{protocol.WarnNoExpiry}, LastUsedAt: ago(3 * day), Close: closing("Revoke", false)},
		{ID: "device:nas", Kind: protocol.ExposureDevice, Title: strings.Repeat("A very long name ", 10), Reach: "Runs calls as the machine nas, and reaches nothing else here.", IsInUse: true, ExpiresAt: pagetest.Noon.Add(2 * day).UnixMilli(), Close: closing("Revoke", false)},
		{ID: "channel:xmpp:default", Kind: protocol.ExposureChannel, Title: "XMPP", IsPublic: true, Reach: "Everyone who knows the address may write to the agent.", Warnings: []string{protocol.WarnPublic}, LastUsedAt: ago(day), Close: closing("Disconnect", true)},
		{ID: "grant:1", Kind: protocol.ExposureGrant, Title: "Allow make on nas", Reach: "The agent, schedules and apps do this without a question.", Warnings: []string{protocol.WarnNoExpiry}, Close: closing("Delete", true)},
	}}}
}

func TestEveryWayInIsShownWithItsWarnings(t *testing.T) {
	for _, mode := range []style.Mode{style.Dark, style.Light} {
		for _, width := range []float32{380, 860} {
			t.Run(fmt.Sprint(mode, " ", width), func(t *testing.T) {
				b := inPage(t, mode, width)
				b.show(everything())
				pagetest.Shows(t, b.Box, "OPEN ADDRESSES", "Reachable from the network", "PUBLISHED APPS", "Public without sign-in · unused for 30 days", "1 app and 1 channel are open to everyone.",
					"In use now", "TOKENS", "CONNECTED APPS", "Never expires", "PAIRED MACHINES AND CLIENTS", "CHANNELS", "ALLOWED WITHOUT A QUESTION", "Used 11:59")
				pagetest.Fits(t, b.w)
				pagetest.Shot(t, b.w, fmt.Sprintf("exposure-%v-%v", mode, width))
			})
		}
	}
}

func TestPageIsUsedWithTheKeyboard(t *testing.T) {
	b := inPage(t, style.Dark, 860)
	b.show(everything())
	pagetest.Controls(t, b.w)
	pagetest.Largest(b.w)
	pagetest.Fits(t, b.w)
}

func TestStatesOfThePageLookAsBefore(t *testing.T) {
	for name, v := range map[string]feed.View{
		"loading": {},
		"problem": {Exposures: feed.Exposures{Problem: "No connection"}},
		"empty":   {Exposures: feed.Exposures{Loaded: true}},
		"full":    everything(),
	} {
		t.Run(name, func(t *testing.T) {
			b := inPage(t, style.Dark, 860)
			b.show(v)
			golden.Markup(t, name, b.Box)
		})
	}
}

func TestWhatCannotBeOpenedAgainIsAskedAboutFirst(t *testing.T) {
	b := inPage(t, style.Dark, 860)
	v := everything()
	v.Exposures.List = v.Exposures.List[2:3]
	b.show(v)
	test.Tap(pagetest.Button(t, b.Box, "Turn off"))
	pagetest.Shows(t, b.Box, "What it has begun ends at once.", "Turn off “Wiki”?")
	pagetest.Shot(t, b.w, "exposure-question")
	if !b.Back() || pagetest.VisibleButton(b.Box, "Cancel") != nil {
		t.Error("got the question after going back, want none")
	}
	test.Tap(pagetest.Button(t, b.Box, "Turn off"))
	test.Tap(pagetest.Button(t, b.Box, "Cancel"))
	if len(b.Did) > 0 {
		t.Errorf("got %v before the answer, want nothing", b.Did)
	}
}

func TestWaysInAreFoundByAllWords(t *testing.T) {
	list := everything().Exposures.List
	for query, want := range map[string][]string{
		"":                        {"listener", "service", "forward", "token", "app", "device", "channel", "grant"},
		"PUBLIC sign-in":          {"service", "channel"},
		"expires make":            {"grant"},
		"paired machines runs":    {"device"},
		"nothing of this matches": nil,
	} {
		var got []string
		for _, g := range groupsOf(list, query, 1) {
			got = append(got, g.Kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	if g := groupsOf(list, "", 1)[0]; len(g.List) != 1 || g.More != 1 {
		t.Errorf("got %d and %d more, want one of two addresses", len(g.List), g.More)
	}
}
