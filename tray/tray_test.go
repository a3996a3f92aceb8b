package tray

import (
	"bytes"
	"image/color"
	"image/png"
	"runtime"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/assets"
	"fairlead/gateway/protocol"
)

// panel is the part of the desktop that the tray uses.
type panel struct {
	menus [][]*fyne.MenuItem
	icons []string
}

// newTray returns a tray in the panel, and forgets the icon of the start.
func (p *panel) newTray(t *testing.T, do func(Item)) *Tray {
	tray := New(t.Context(), p, style.System, do)
	tray.setMenu = func(items []*fyne.MenuItem) { p.menus = append(p.menus, items) }
	tray.setTooltip = func(string) {}
	p.icons = nil
	return tray
}

func (p *panel) SetSystemTrayMenu(*fyne.Menu)      {}
func (p *panel) SetSystemTrayIcon(r fyne.Resource) { p.icons = append(p.icons, r.Name()) }
func (p *panel) SetSystemTrayWindow(fyne.Window)   {}

func outline(items []*fyne.MenuItem, indent string) string {
	var b strings.Builder
	for _, i := range items {
		switch {
		case i.IsSeparator:
			b.WriteString(indent + "--\n")
			continue
		case i.Disabled:
			b.WriteString(indent + "(" + i.Label + ")\n")
		case i.Checked:
			b.WriteString(indent + "[x] " + i.Label + "\n")
		default:
			b.WriteString(indent + i.Label + "\n")
		}
		if i.ChildMenu != nil {
			b.WriteString(outline(i.ChildMenu.Items, indent+"  "))
		}
	}
	return b.String()
}

// protectedHost is a machine on which commands cannot change start-up files.
func protectedHost() *protocol.HostInfo {
	return &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: true}}}}
}

func view() feed.View {
	return feed.View{
		Status:    feed.Status{Connected: true, Loaded: true, Status: protocol.Status{Paused: true}},
		Questions: feed.Questions{Pending: []protocol.Question{{ID: "q", Kind: protocol.AskCall, Tool: "Bash", Effect: protocol.EffectExec, Node: "nas", Args: []byte(`{"command":"make -j4"}`)}}},
		Sessions:  feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a", Title: "Refactor the parser"}}},
		Machines:  []protocol.NodeInfo{{ID: "laptop", Online: true, Host: protectedHost()}, {ID: "nas"}},
	}
}

// trayFor is the tray for a view with the words of its questions.
func trayFor(v feed.View) Content { return ContentOf(v, time.Now()) }

func TestMenuSaysWhatTheGatewayIsDoing(t *testing.T) {
	test.NewTempApp(t)
	p := &panel{}
	var chosen []Item
	tray := p.newTray(t, func(i Item) { chosen = append(chosen, i) })
	tray.Show(trayFor(view()))
	want := `(Fairlead wants to run a command)
--
Needs you (1)
  Run make -j4 on nas
Open
New chat
Recent chats
  Refactor the parser
Machines
  laptop · online
  nas · offline
--
Approvals in this chat
  [x] Ask
  Accept file changes in the workspace
  Trust for 15 minutes
  Trust for 1 hour
  Read only
  Ask for every call
[x] Pause agent
Settings
--
Quit
`
	if got := outline(p.menus[0], ""); got != want {
		t.Errorf("menu:\n%s\nwant:\n%s", got, want)
	}
	p.menus[0][2].ChildMenu.Items[0].Action()
	p.menus[0][5].ChildMenu.Items[0].Action()
	if len(chosen) != 2 || chosen[0].Do != ActionReview || chosen[0].Question != "q" || chosen[1].Do != ActionChat || chosen[1].Key != "a" {
		t.Errorf(`chosen: got %+v; want length 2, chosen[0].Do %v, chosen[0].Question "q", chosen[1].Do %v and chosen[1].Key "a"`, chosen, ActionReview, ActionChat)
	}
}

func TestLabelIsShownUnchanged(t *testing.T) {
	const label = "Run make_all && test_it\u202e on n_1"
	for system, want := range map[string]string{
		"linux":   "Run make__all && test__it on n__1",
		"windows": "Run make_all &&&& test_it on n_1",
		"darwin":  "Run make_all && test_it on n_1",
	} {
		t.Run(system, func(t *testing.T) {
			if got := plain(label, system); got != want {
				t.Errorf("%s: %q, want %q", system, got, want)
			}
		})
	}
	test.NewTempApp(t)
	p, v := &panel{}, view()
	v.Sessions.List[0].Title = "a_b&c"
	p.newTray(t, func(Item) {}).Show(trayFor(v))
	if got := outline(p.menus[0], ""); !strings.Contains(got, plain("a_b&c", runtime.GOOS)) {
		t.Errorf("got a menu without \"a_b&c\":\n%s", got)
	}
}

func TestMenuIsRebuiltOnlyWhenItDiffers(t *testing.T) {
	test.NewTempApp(t)
	p := &panel{}
	tray := p.newTray(t, func(Item) {})
	var tooltips []string
	tray.setTooltip = func(text string) { tooltips = append(tooltips, text) }
	v := view()
	tray.Show(trayFor(v))
	// text streams while an approval is pending
	v.Runs.List = []protocol.RunInfo{{RunID: "r", State: protocol.RunStreaming, Text: "a word more"}}
	tray.Show(trayFor(v))
	if len(p.menus) != 1 || len(p.icons) != 1 {
		t.Errorf("%d menus and %d icons for one look; want 1 and 1", len(p.menus), len(p.icons))
	}
	v.Questions.Pending = nil
	tray.Show(trayFor(v))
	v.Status.Paused = false
	tray.Show(trayFor(v))
	if len(p.menus) != 3 || len(p.icons) != 3 || p.icons[0] == p.icons[1] || p.icons[1] == p.icons[2] {
		t.Errorf("%d menus, icons %v", len(p.menus), p.icons)
	}
	if got, want := strings.Join(tooltips, "; "), "Fairlead: Paused; Fairlead: Working"; got != want {
		t.Errorf("tooltips %q, want %q", got, want)
	}
}

// TestTheGlyphHasOnlyOpaquePixels fails for a smooth edge, which the tray's library turns into
// pixels of other colours.
func TestTheGlyphHasOnlyOpaquePixels(t *testing.T) {
	test.NewTempApp(t)
	for state, needs := range map[assets.TrayState]int{assets.TrayIdle: 0, assets.TrayPaused: 0, assets.TrayNeedsYou: 12} {
		t.Run(string(state), func(t *testing.T) {
			opaque, colors := pixels(t, sharpen(style.TrayIcon(state, needs, false, assets.TrayLight), false))
			if opaque < glyphSize*glyphSize/8 {
				t.Errorf("%d pixels are drawn", opaque)
			}
			for c := range colors {
				if needs == 0 && c.R < 0xf0 {
					t.Errorf("a pixel is %v", c)
				}
			}
		})
	}
}

func TestGlyphHasAnOutlineOnAnUnknownPanel(t *testing.T) {
	test.NewTempApp(t)
	plain, _ := pixels(t, sharpen(style.TrayIcon(assets.TrayIdle, 0, false, assets.TrayLight), false))
	all, colors := pixels(t, sharpen(style.TrayIcon(assets.TrayIdle, 0, false, assets.TrayLight), true))
	dark := colors[color.NRGBA{0x2a, 0x2a, 0x2a, 0xff}]
	if all-dark != plain || dark < plain/4 {
		t.Errorf("got %d pixels, %d of them dark, want %d light ones and an outline", all, dark, plain)
	}
}

// pixels counts the opaque pixels of an icon, and those of each colour. It fails for others that
// are not transparent.
func pixels(t *testing.T, icon fyne.Resource) (opaque int, colors map[color.NRGBA]int) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(icon.Content()))
	if err != nil {
		t.Fatal(err)
	}
	colors = make(map[color.NRGBA]int)
	for i := range glyphSize * glyphSize {
		c := color.NRGBAModel.Convert(img.At(i%glyphSize, i/glyphSize)).(color.NRGBA)
		if c.A != 0 && c.A != 255 {
			t.Fatalf("a pixel is %v", c)
		}
		if c.A == 255 {
			opaque++
			colors[c]++
		}
	}
	return opaque, colors
}

func TestGlyphIsMarkedWhileSomethingIsPublic(t *testing.T) {
	test.NewTempApp(t)
	p := &panel{}
	tray := p.newTray(t, nil)
	v := view()
	tray.Show(trayFor(v))
	before := outline(p.menus[0], "")
	v.Exposures.List = []protocol.Exposure{{ID: "a", Kind: protocol.ExposureService, IsPublic: true}, {ID: "b", Kind: protocol.ExposureToken}}
	tray.Show(trayFor(v))
	if now := outline(p.menus[1], ""); strings.Contains(before, "public") || !strings.Contains(now, "1 app is public without sign-in\n") {
		t.Errorf("got the menu\n%s, then\n%s; want a line about the public app in the second", before, now)
	}
	if len(p.icons) != 2 || p.icons[0] == p.icons[1] {
		t.Errorf("got the icons %v, want another one with a mark", p.icons)
	}
	for _, i := range trayFor(v).Items {
		if i.Do == ActionExposure && i.Disabled {
			t.Error("got a line that cannot be chosen, want one that leads to the page")
		}
	}
	badge := color.NRGBA{0xc9, 0x7a, 0x00, 0xff}
	for _, ink := range []string{assets.TrayLight, assets.TrayDark} {
		for _, outlined := range []bool{false, true} {
			_, plain := pixels(t, sharpen(style.TrayIcon(assets.TrayIdle, 0, false, ink), outlined))
			_, marked := pixels(t, sharpen(style.TrayIcon(assets.TrayIdle, 0, true, ink), outlined))
			if plain[badge] > 0 || marked[badge] < glyphSize*glyphSize/20 {
				t.Errorf("%s, outlined %v: got %d and %d pixels of the mark, want none and at least a twentieth", ink, outlined, plain[badge], marked[badge])
			}
		}
	}
}
