package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/notify"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// computer has the settings of a computer for tests.
type computer struct {
	dir    string
	hidden bool
	login  bool
	links  bool
	listen string
	fail   error
	reach  preferences.Confinement
}

func (c *computer) Confinement() preferences.Confinement { return c.reach }
func (c *computer) SetConfinement(r preferences.Confinement) error {
	if c.fail == nil {
		c.reach = r
	}
	return c.fail
}

func (c *computer) Workspace() string { return c.dir }
func (c *computer) SetWorkspace(dir string) error {
	if c.fail == nil {
		c.dir = dir
	}
	return c.fail
}
func (c *computer) Hidden() bool      { return c.hidden }
func (c *computer) SetHidden(on bool) { c.hidden = on }
func (c *computer) AtLogin() bool     { return c.login }
func (c *computer) SetAtLogin(on bool) error {
	if c.fail == nil {
		c.login = on
	}
	return c.fail
}
func (c *computer) Links() bool            { return c.links }
func (c *computer) SetLinks(on bool) error { c.links = on; return nil }
func (c *computer) Listen() string         { return c.listen }
func (c *computer) SetListen(addr string)  { c.listen = addr }
func (c *computer) token() (string, error) { return "fl_secret", c.fail }

// texts returns an object's content, as markup.
func texts(o fyne.CanvasObject) string {
	o.Resize(fyne.NewSize(900, 1200)) // wide enough for every line
	return test.RenderObjectToMarkup(o)
}

// bench is what a page of the settings works with in a test.
type bench struct {
	*view
	*pagetest.Host
	folder string // what the dialog that asks for a folder answers
}

// Open implements [host.Host]. The dialog that asks for a folder answers at once.
func (b *bench) Open(to host.Target) {
	if ask, ok := to.(host.ChooseFolder); ok {
		ask.Chosen(b.folder)
		return
	}
	b.Host.Open(to)
}

// inPage runs a test on pages without a gateway, in a bubble: the pages' goroutines have ended when
// body checks.
func inPage(t *testing.T, c *computer, body func(t *testing.T, p *bench)) {
	a := pagetest.App(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &bench{Host: &pagetest.Host{}}
		b.view = newView(ctx, host.Env{Host: b, Feed: feed.New(), Drafts: &unsaved.Store{}, Prefs: new(preferences.Store)}, Options{Moved: func(bool) {}})
		if c != nil {
			b.o.Local = &Local{Agent: c, Preferences: c, System: c, Token: c.token, LogDir: "/home/me/logs"}
		}
		body(t, b)
		cancel()
		pagetest.Settle()
	})
}

func TestAProviderThatWasChosenByKeyKeepsTheKeyboard(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		m := newModels(p.view)
		pagetest.Settle()
		w := pagetest.Window(t, m.box, 800, 600)
		m.providers = []protocol.Provider{{ID: "openai", Name: "OpenAI", NeedsKey: true}, {ID: "operator", Name: "Built-in operator"}}
		m.showProvider("operator")
		if w.Canvas().Focused() != nil {
			t.Errorf("%T took the keyboard from nobody", w.Canvas().Focused())
		}
		row := func(i int) fyne.Focusable { return m.list.Objects[i].(*widgets.SidebarRow).Focusable() }
		w.Canvas().Focus(row(0))
		row(0).TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if m.selected != "openai" || w.Canvas().Focused() != row(0) {
			t.Errorf(`%s is shown, and %T has the keyboard; want "openai" and %T`, m.selected, w.Canvas().Focused(), row(0))
		}
		pagetest.Settle()
	})
}

func TestGeneralChangesWhatBelongsToThisComputer(t *testing.T) {
	c := &computer{dir: "/home/me"}
	inPage(t, c, func(t *testing.T, p *bench) {
		page := p.general()
		pagetest.Settle()
		test.Tap(pagetest.Button(t, page, "Stay in the tray"))
		if !c.hidden || !pagetest.Button(t, page, "Stay in the tray").Primary || pagetest.Button(t, page, "Open the window").Primary {
			t.Error("the choice is not taken or not shown")
		}
		for _, press := range []string{"On", "Open in Fairlead"} {
			test.Tap(pagetest.Button(t, page, press))
			pagetest.Settle()
		}
		if !c.login || !c.links || !pagetest.Button(t, page, "On").Primary {
			t.Error("the system is not told, or that is not shown")
		}
		c.fail = errors.New("the disk is full")
		var off []*widgets.Button // of the start at login, and of links
		widgettest.Find(page, func(b *widgets.Button) bool {
			if b.Text == "Off" {
				off = append(off, b)
			}
			return false
		})
		test.Tap(off[0])
		pagetest.Settle()
		if !c.login || !pagetest.Button(t, page, "On").Primary || !strings.Contains(texts(page), "The disk is full") {
			t.Error("what the system did not take is shown as if it had")
		}
		test.Tap(pagetest.Button(t, page, "Dark"))
		pagetest.Settle()
		if !strings.Contains(texts(page), "not connected") && !strings.Contains(texts(page), "Not connected") {
			t.Error("it does not say why the theme was not saved")
		}
	})
}

func TestThisComputerChangesTheReachOfTheAgent(t *testing.T) {
	c := &computer{dir: "/home/me"}
	inPage(t, c, func(t *testing.T, p *bench) {
		p.folder = "/srv/work"
		page := p.computer()
		pagetest.Settle()
		test.Tap(pagetest.Button(t, page, "Choose…"))
		pagetest.Settle()
		if c.dir != "/srv/work" || !strings.Contains(texts(page), "now works in this folder") {
			t.Errorf(`the workspace is %s; want "/srv/work"`, c.dir)
		}
		c.fail = protocol.ErrNotFound.With("no such folder")
		test.Tap(pagetest.Button(t, page, "Choose…"))
		pagetest.Settle()
		if !strings.Contains(texts(page), "No such folder") {
			t.Error("a failure is not said")
		}
		c.fail = nil
		p.folder = "/srv/data"
		for range 2 { // the same folder is added once
			test.Tap(pagetest.Button(t, page, "Add folder…"))
			pagetest.Settle()
		}
		test.Tap(pagetest.Button(t, page, "Ask each time"))
		pagetest.Settle()
		test.Tap(pagetest.Button(t, page, "Read only"))
		pagetest.Settle()
		if got := fmt.Sprint(c.reach); got != "{false read-only ask [/srv/data:ro]}" {
			t.Errorf(`it reaches %s, want "{false read-only ask [/srv/data:ro]}"`, got)
		}
		c.fail = protocol.ErrForbidden.With("the folder is gone")
		if !pagetest.Button(t, page, "Ask each time").Primary {
			t.Error("the choice is not shown")
		}
		test.Tap(pagetest.Button(t, page, "Remove"))
		pagetest.Settle()
		if s := texts(page); !strings.Contains(s, "The folder is gone") || !strings.Contains(s, "/srv/data") {
			t.Error("a failure is not said, or what is shown does not hold")
		}
		c.fail = nil
		test.Tap(pagetest.Button(t, page, "Remove"))
		pagetest.Settle()
		if len(c.reach.Folders) != 0 {
			t.Errorf("it still reaches %v", c.reach.Folders)
		}
	})
}

func TestThisComputerShowsWhatIsEnforcedAsItChanges(t *testing.T) {
	inPage(t, &computer{}, func(t *testing.T, p *bench) {
		page := p.computer()
		pagetest.Settle()
		if !strings.Contains(texts(page), "not running yet") {
			t.Error("it promises something for tools that do not run")
		}
		p.e.Feed.Update(func(v *feed.View) {
			v.Machines = []protocol.NodeInfo{{ID: "box", Local: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{
				Mode: "read-only", Network: "blocked", Summary: "partly",
				Checks: []protocol.EnforcedCheck{{ID: "orphans", Enforced: true, By: "pid"}, {ID: "forks", Why: "no cgroup"}},
			}}}}
		}, p.e.Feed.All()...)
		time.Sleep(time.Second)
		pagetest.Settle()
		if s := texts(page); !strings.Contains(s, "Nothing keeps running") || !strings.Contains(s, "A command can start any number of programs") {
			t.Errorf(`it shows %s; want one with "Nothing keeps running"`, s)
		}
	})
}

func TestTokenIsCopiedWithoutShowingIt(t *testing.T) {
	c := &computer{}
	inPage(t, c, func(t *testing.T, p *bench) {
		page := form(p.ownGateway()...)
		test.Tap(pagetest.Button(t, page, "Copy token"))
		pagetest.Settle()
		if !slices.Contains(p.Did, "copy fl_secret") || strings.Contains(texts(page), "fl_secret") {
			t.Errorf("got %q, or the token is shown", p.Did)
		}
		c.fail = protocol.ErrForbidden.With("the keychain is locked")
		test.Tap(pagetest.Button(t, page, "Copy token"))
		pagetest.Settle()
		if !strings.Contains(texts(page), "The keychain is locked") {
			t.Error("a locked keychain is not said")
		}
	})
}

func TestGatewayElsewhereHasNoSettingsOfThisComputer(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		advanced, general := form(p.ownGateway()...), p.general()
		pagetest.Settle()
		if s := texts(advanced) + texts(general); strings.Contains(s, "Copy token") || strings.Contains(s, "Folder the agent") {
			t.Error("settings of this computer are shown")
		}
	})
}

func TestAboutSaysWhereThingsAre(t *testing.T) {
	inPage(t, &computer{}, func(t *testing.T, p *bench) {
		p.e.Feed.Update(func(v *feed.View) {
			v.Status.Status = protocol.Status{Home: "/home/ann/.local/share/fairlead", SecretStore: "/home/ann/.local/share/fairlead/secrets.json"}
		}, p.e.Feed.All()...)
		p.o.About = About{Version: "1.2.3", Commit: "abcdef12"}
		page := p.aboutPage()
		for _, want := range []string{"1.2.3 (abcdef12)", "/home/ann/.local/share/fairlead", "secrets.json"} {
			if !strings.Contains(texts(page), want) {
				t.Errorf("%q is not shown", want)
			}
		}
		for _, b := range widgettest.All[*widgets.Button](page) {
			if b.Text == "Copy" {
				test.Tap(b)
			}
		}
		if got, want := strings.Join(p.Did, "; "), "copy Fairlead 1.2.3 (abcdef12)"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "copy /home/ann/.local/share/fairlead") {
			t.Errorf("the buttons copy: got %q, want %q and the data folder", got, want)
		}
		page.Resize(fyne.NewSize(340, 1200))
		if want := "/home/…/share/fairlead<"; !strings.Contains(test.RenderObjectToMarkup(page), want) {
			t.Errorf("the data folder in a narrow window: got no %q, want it shortened in the middle", want)
		}
		test.Tap(pagetest.Button(t, page, "Show"))
		if !strings.Contains(texts(page), "fyne.io/fyne") {
			t.Error("the libraries are not shown")
		}
	})
}

func TestModelsWithoutAGatewaySayWhyAndOfferAnotherTry(t *testing.T) {
	inPage(t, &computer{}, func(t *testing.T, p *bench) {
		m := newModels(p.view)
		pagetest.Settle()
		if s := texts(m.box); !strings.Contains(s, "Try again") || !strings.Contains(s, "ot connected") {
			t.Error("an empty page")
		}
	})
}

func TestAddressesToListenOn(t *testing.T) {
	for in, ok := range map[string]bool{
		"": true, "none": true, " 127.0.0.1:8787 ": true, "[::1]:0": true, "localhost:80": true,
		"127.0.0.1": false, ":8787": false, "127.0.0.1:http": false, "127.0.0.1:70000": false, "nonsense": false,
	} {
		t.Run(in, func(t *testing.T) {
			if _, err := checkListenAddress(in); (err == nil) != ok {
				t.Errorf("%q: got %v; want success %v", in, err, ok)
			}
		})
	}
}

func TestEveryLibraryHasItsLicence(t *testing.T) {
	for _, l := range strings.Split(strings.TrimSpace(licences), "\n") {
		if f := strings.Fields(l); len(f) != 2 || !strings.Contains(f[0], ".") {
			t.Errorf(`line: got %q; want length 2 and "." in f[0]`, l)
		}
	}
}

func TestLongModelListStatesTheNumberOmitted(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		var list []protocol.ModelInfo
		for i := range maxModels + 40 {
			list = append(list, protocol.ModelInfo{ID: fmt.Sprint("model-", i)})
		}
		m, rows := &models{page: p.view}, container.NewVBox()
		for query, want := range map[string]string{"": "40 more. Search to narrow the list.", "model-7": "", "none": "No models found."} {
			m.listModels(rows, "router", list, query, mutedText(""))
			if s := texts(rows); !strings.Contains(s, want) || want == "" && strings.Contains(s, "more.") {
				t.Errorf(`%q: got %s; want %q in it, or no "more." if that is empty`, query, s, want)
			}
		}
	})
}

func TestAKeyIsNeitherRemovedNorLostByMistake(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		m, said := newModels(p.view), mutedText("")
		pagetest.Settle()
		provider := protocol.Provider{ID: "openai", NeedsKey: true, KeySet: true}
		a := newAccess(m, provider, said)
		w := pagetest.Window(t, a.box, 500, 300)
		set := a.box
		test.Tap(pagetest.Button(t, set, "Remove"))
		pagetest.Settle()
		if s := texts(said); strings.Contains(s, "ot connected") {
			t.Error("one press removes the key")
		}
		test.Tap(pagetest.Button(t, set, "Remove permanently"))
		pagetest.Settle()
		if s := texts(said); !strings.Contains(s, "ot connected") { // without a gateway it fails
			t.Error("the second press does not")
		}
		a = newAccess(m, provider, said)
		w.SetContent(a.box)
		test.Tap(pagetest.Button(t, a.box, "Replace"))
		if w.Canvas().Focused() != fyne.Focusable(a.key) {
			t.Errorf("Replace focuses %T, want the field of the key", w.Canvas().Focused())
		}
		a.key.SetText("secret")
		test.Tap(pagetest.Button(t, a.box, "Save"))
		pagetest.Settle()
		if a.key.Text != "secret" {
			t.Error("a key that was not saved is gone")
		}
	})
}

func TestAServerIsSavedWithItsAddressBeforeItsKey(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		said := mutedText("")
		a := newAccess(newModels(p.view), protocol.Provider{ID: "compatible"}, said)
		w := pagetest.Window(t, a.box, 500, 300)
		pagetest.Settle()
		if text := texts(a.box); strings.Index(text, "Address") > strings.Index(text, "Key (optional)") {
			t.Errorf("the key is before the address: %s", text)
		}
		a.key.SetText("secret")
		test.Tap(pagetest.Button(t, a.box, "Save"))
		if w.Canvas().Focused() != fyne.Focusable(a.address) || !strings.Contains(texts(said), "Enter the address") {
			t.Errorf(`without an address it says %q and focuses %T; want one with "Enter the address" and %T`, texts(said), w.Canvas().Focused(), fyne.Focusable(a.address))
		}
	})
}

func TestControlBelowItsNameKeepsAGap(t *testing.T) {
	inPage(t, nil, func(t *testing.T, _ *bench) {
		o := labelledValue("Thinking", widgets.NewSelect([]string{"low"}, nil)).(*fyne.Container)
		pagetest.Window(t, o, 300, 200)
		if name, control := o.Objects[0], o.Objects[1]; control.Position().Y < name.Position().Y+name.Size().Height+style.Gap {
			t.Errorf("the name ends at %v, the control begins at %v, want at least %v", name.Position().Y+name.Size().Height, control.Position().Y, name.Position().Y+name.Size().Height+style.Gap)
		}
	})
}

func TestValuesOfEveryKindStandInOneColumn(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		text := func(row fyne.CanvasObject) float32 {
			pagetest.Window(t, row, 700, 60)
			value := row.(*fyne.Container).Objects[1]
			left := value.Position().X
			if _, isLabel := value.(*widget.Label); isLabel {
				left += theme.InnerPadding()
			}
			return left
		}
		if version, folder := text(textRow("Fairlead", "0.1.0")), text(p.pathRow("Data", "/srv/data")); version != folder {
			t.Errorf("the version begins at %v, the folder at %v, want the same", version, folder)
		}
	})
}

func TestDestinationOfAKeyFitsANarrowWindow(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		a := newAccess(newModels(p.view), protocol.Provider{ID: "openai", NeedsKey: true}, mutedText(""))
		entry, row := a.key, a.box
		pagetest.Settle()
		if width := fyne.MeasureText(entry.PlaceHolder, style.Size("text"), fyne.TextStyle{}).Width; width > 120 {
			t.Errorf("%q is cut off in the field", entry.PlaceHolder)
		}
		if said := texts(row); !strings.Contains(said, "Stored in the system's keychain.") {
			t.Errorf("it is not said where it goes: %s", said)
		}
	})
}

func TestErrorsInOtherScriptsAreUnchanged(t *testing.T) {
	if got := feed.Sentence(errors.New("模型不存在")); got != "模型不存在" {
		t.Errorf("got %q, want %q", got, "模型不存在")
	}
}

func TestModelFacts(t *testing.T) {
	in, out := 0.25, 2.0
	if got := modelFacts(protocol.ModelInfo{ContextWindow: 128000, PriceIn: &in, PriceOut: &out, Tools: true}); got != "128k · $0.25 in, $2 out" {
		t.Errorf("got %q, want %q", got, "128k · $0.25 in, $2 out")
	}
	token := 0.15000000000000002 // 0.00000015 × 1,000,000
	if got := modelFacts(protocol.ModelInfo{ContextWindow: 1_048_576, PriceIn: &token, PriceOut: &out, Tools: true}); got != "1M · $0.15 in, $2 out" {
		t.Errorf("got %q, want %q", got, "1M · $0.15 in, $2 out")
	}
	if got := modelFacts(protocol.ModelInfo{PriceIn: &in}); !strings.Contains(got, "no tools") || !strings.Contains(got, "? out") {
		t.Errorf(`got %q; want "no tools" in it and "? out" in it`, got)
	}
}

func TestGeneralShowsChangesFromElsewhere(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		rows, show := p.appearance()
		page := form(rows...)
		chosen := func(want ...string) {
			t.Helper()
			for _, text := range []string{"Match system", "Light", "Dark", "Small", "Normal", "Large", "Largest"} {
				if on := pagetest.Button(t, page, text).Primary; on != slices.Contains(want, text) {
					t.Errorf("%s: chosen is %v, want %v", text, on, slices.Contains(want, text))
				}
			}
		}
		show(UI{Theme: "dark", TextSize: style.TextLarge}, nil)
		chosen("Dark", "Large")
		show(UI{Theme: "light", TextSize: style.TextNormal}, nil)
		chosen("Light", "Normal")
		test.Tap(pagetest.Button(t, page, "Largest"))
		chosen("Light", "Largest")
		pagetest.Settle()
	})
}

func TestConfigurationIsReadAgainWhenItChanges(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		read := 0
		p.watchConfig(func(context.Context) { read++ })
		for i, change := range []func(*feed.View){func(*feed.View) {}, func(v *feed.View) { v.Status.Connected = true }, func(v *feed.View) { v.Changed.Config++ }, func(v *feed.View) { v.Status.Connected = false }} {
			p.e.Feed.Update(change, p.e.Feed.All()...)
			time.Sleep(time.Second)
			pagetest.Settle()
			if want := []int{1, 2, 3, 3}[i]; read != want {
				t.Errorf("after change %d it was read %d times, not %d", i, read, want)
			}
		}
	})
}

func TestSavedAppearsBesideTheSetting(t *testing.T) {
	inPage(t, &computer{}, func(t *testing.T, p *bench) {
		page := p.computer()
		pagetest.Window(t, page, 860, 1200)
		top := func(o fyne.CanvasObject) float32 { return fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y }
		for _, choice := range []string{"Whole disk", "Full access", "Blocked"} {
			button := pagetest.Button(t, page, choice)
			test.Tap(button)
			pagetest.Settle()
			beside := widgettest.Find(page, func(p *widgets.Paragraph) bool {
				return strings.HasPrefix(p.Text(), "✓ Saved") && top(p)-top(button) >= 0 && top(p)-top(button) < 12
			})
			if beside == nil {
				t.Errorf("%s: “Saved” does not stand beside it", choice)
			}
		}
	})
}

func TestSettingDraftsAreRestored(t *testing.T) {
	inPage(t, &computer{dir: "/home/me"}, func(t *testing.T, p *bench) {
		field := func(page fyne.CanvasObject, placeholder string) *widgets.Entry {
			return widgettest.Find(page, func(e *widgets.Entry) bool { return e.PlaceHolder == placeholder })
		}
		provider := protocol.Provider{ID: "openai", Name: "OpenAI", NeedsKey: true, KeySet: true}
		open := map[string]func() *widgets.Entry{
			"key of a provider": func() *widgets.Entry {
				a := newAccess(&models{page: p.view}, provider, widgets.NewStatus())
				if a.key.Text == "" {
					pagetest.Button(t, a.box, "Replace").OnTap()
				}
				pagetest.Window(t, a.box, 500, 300)
				return field(a.box, "Paste the key")
			},
			"address to listen on": func() *widgets.Entry { return field(form(p.ownGateway()...), "127.0.0.1:8787") },
		}
		for name, open := range open {
			open().SetText("typed")
			if e := open(); e == nil || e.Text != "typed" {
				t.Errorf("%s: got %v, want what was typed", name, e)
			} else if e.SetText(""); open().Text != "" {
				t.Errorf("%s: an emptied field has a draft", name)
			}
		}
	})
}

func TestNotificationsAreChosenByKindAndTime(t *testing.T) {
	inPage(t, nil, func(t *testing.T, p *bench) {
		n := &notificationsPage{page: p.view, problem: mutedText("")}
		box := n.quietHours()
		n.apply(notify.Settings{Quiet: notify.QuietHours{From: "22:15", To: "07:00", Allow: notify.QuietQuestions}})
		if strings.Contains(texts(box), "07:00") {
			t.Error("times are shown although there are no quiet hours")
		}
		n.apply(notify.Settings{Quiet: notify.QuietHours{Enabled: true, From: "22:15", To: "07:00", Days: []string{"sat"}, Allow: notify.QuietQuestions}})
		if s := texts(box); !strings.Contains(s, "22:15") || !strings.Contains(s, "07:00") {
			t.Errorf(`the times are missing: %s; want one with "22:15"`, s)
		}
		for name, want := range map[string]bool{"Sat": true, "Sun": false, "Only questions": true, "Nothing": false, "On": true, "Off": false} {
			if got := pagetest.Button(t, box, name).Primary; got != want {
				t.Errorf("%s: chosen is %v, want %v", name, got, want)
			}
		}
		page := p.notifications()
		pagetest.Settle()
		if s := texts(page); !strings.Contains(s, "Devices that want to pair") || !strings.Contains(s, "ot connected") {
			t.Error("a kind, or why they could not be loaded, is missing")
		}
	})
}
