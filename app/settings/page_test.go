package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/gateway/protocol"
)

// testPage is the page of the settings in a window, without a gateway.
type testPage struct {
	*Page
	host  *pagetest.Host
	w     fyne.Window
	shown []string    // what the page reported
	inner int         // how often the page of another package may still go back
	ended bool        // the page of another package was closed
	other *skillsPage // the page of another package
}

func inSettings(t *testing.T, width float32, body func(t *testing.T, s *testPage)) {
	inPage(t, &computer{dir: "/home/me"}, func(t *testing.T, b *bench) {
		s := &testPage{host: &pagetest.Host{}}
		o := b.o
		o.About = About{Version: "1", Changes: "- A"}
		o.Gateways, o.Pairing = &fakeGateways{changes: feed.NewValue(0)}, NewPairing(t.Context())
		prefs := new(preferences.Store)
		o.Moved = func(inPlace bool) { s.shown = append(s.shown, fmt.Sprint(prefs.Get().SettingsPage, " ", inPlace)) }
		o.Pages = []host.Entry{{Icon: "skill", Title: "Skills", New: func(ctx context.Context) host.View {
			context.AfterFunc(ctx, func() { s.ended = true })
			s.other = &skillsPage{s: s}
			return s.other
		}}}
		s.Page = New(b.ctx, host.Env{Host: s.host, Feed: b.e.Feed, Drafts: &unsaved.Store{}, Prefs: prefs}, o)
		s.w = pagetest.Window(t, s.Page, width, 700)
		pagetest.Settle()
		body(t, s)
	})
}

// skillsPage is the page of another package.
type skillsPage struct {
	s  *testPage
	at host.Target // the latest place
}

func (p *skillsPage) Content() fyne.CanvasObject { return widget.NewLabel("the skills") }
func (p *skillsPage) OpenAt(to host.Target)      { p.at = to }
func (p *skillsPage) Back() bool                 { p.s.inner--; return p.s.inner >= 0 }

// left returns how often the settings were left.
func (s *testPage) left() (n int) {
	for _, did := range s.host.Did {
		if strings.HasPrefix(did, "back ") {
			n++
		}
	}
	return n
}

func (s *testPage) selectedTitle() string {
	for i := range s.entries {
		if s.item(i).Selected {
			return s.item(i).Title
		}
	}
	return ""
}

func TestCursorOfTheListIsOnThePageThatIsShown(t *testing.T) {
	inSettings(t, 880, func(t *testing.T, s *testPage) {
		for _, title := range []string{"Skills", AboutTitle, generalTitle} {
			s.Open(title) // as a link does
			if got := s.list.Cursor(); got != s.indexOf(title) {
				t.Errorf("%s: got the cursor on line %d, want %d", title, got, s.indexOf(title))
			}
		}
	})
}

// escape presses Escape outside a field.
func (s *testPage) escape() { s.Back() }

func TestSettingsListPagesBesideThePage(t *testing.T) {
	inSettings(t, 880, func(t *testing.T, s *testPage) {
		if s.selectedTitle() != generalTitle {
			t.Errorf("first shown: got %q, want %s", s.selectedTitle(), generalTitle)
		}
		pagetest.Shows(t, s.w.Content(), "All settings", "Text size")
		s.choose(s.indexOf("Skills"))
		pagetest.Shows(t, s.w.Content(), "the skills", "All settings")
		s.Open("no such page") // of another version
		if s.selectedTitle() != "Skills" {
			t.Errorf("an unknown page: got %q, want Skills", s.selectedTitle())
		}
		for _, step := range []struct {
			by   int
			want string
		}{{1, gatewaysTitle}, {-1, "Skills"}, {-4, generalTitle}, {-1, allSettingsTitle}, {1, generalTitle}} {
			s.MoveTab(step.by)
			pagetest.Settle()
			if s.selectedTitle() != step.want {
				t.Errorf("by %d: got %q, want %q", step.by, s.selectedTitle(), step.want)
			}
		}
		if !s.ended {
			t.Error("a page that is left is still open")
		}
	})
}

func TestEscapeGoesBackStepByStep(t *testing.T) {
	for _, width := range []float32{480, 880} {
		inSettings(t, width, func(t *testing.T, s *testPage) {
			if s.narrow != (width < 600) {
				t.Fatalf("%v wide: narrow is %v, want %v", width, s.narrow, (width < 600))
			}
			s.choose(s.indexOf("Skills"))
			s.inner = 1
			s.w.Canvas().Unfocus()
			if s.escape(); s.inner != 0 || s.w.Canvas().Focused() != nil {
				t.Error("Escape does not go back within the page")
			}
			if s.escape(); s.w.Canvas().Focused() != fyne.Focusable(s.list) || s.left() != 0 {
				t.Errorf("%v wide: the second Escape focuses %T, and left %d times", width, s.w.Canvas().Focused(), s.left())
			}
			if s.content.Visible() == s.narrow {
				t.Errorf("%v wide: the page is visible: %v", width, s.content.Visible())
			}
			s.search.field.SetText("quiet")
			if s.escape(); s.search.field.Text != "" || s.left() != 0 {
				t.Error("Escape does not end the search")
			}
			if s.escape(); s.left() != 1 {
				t.Error("Escape in the list does not leave the settings")
			}
		})
	}
}

func TestNarrowSettingsShowThePageInPlaceOfTheList(t *testing.T) {
	inSettings(t, 480, func(t *testing.T, s *testPage) {
		if last := s.shown[len(s.shown)-1]; last != generalTitle+" false" || s.content.Visible() {
			t.Errorf("first: got %q, page visible: %v, want the list", last, s.content.Visible())
		}
		s.choose(s.indexOf(ModelsTitle))
		if last := s.shown[len(s.shown)-1]; last != ModelsTitle+" true" || !s.content.Visible() {
			t.Errorf("chosen: got %q, page visible: %v, want the page", last, s.content.Visible())
		}
		s.w.Resize(fyne.NewSize(900, 600))
		s.w.Resize(fyne.NewSize(480, 600))
		if !s.content.Visible() {
			t.Error("the page is hidden after the window was wide for a moment")
		}
		pagetest.Settle()
	})
}

func TestSearchLeadsToASettingAndMarksIt(t *testing.T) {
	inSettings(t, 880, func(t *testing.T, s *testPage) {
		s.search.field.SetText("zzz")
		pagetest.Shows(t, s.w.Content(), "No settings found.")
		s.model.Value.Update(func(v *View) {
			*v = View{Loaded: true, List: []Setting{
				setting(wait, ""), setting(jobs, ""), setting(them, ""),
				{ConfigField: protocol.ConfigField{Path: "x", Group: "Other", Title: "Last", Description: "About zebras"}, Name: "x", Value: json.RawMessage(`"1"`)},
			}}
		})
		found := func(query string) (list []string) {
			s.search.field.SetText(query)
			for _, r := range s.search.results {
				list = append(list, s.entries[r.page].Title+"/"+r.section+r.setting)
			}
			return list
		}
		for query, want := range map[string][]string{
			"quiet HOURS": {"Notifications/", "Notifications/Quiet hours"},
			"theme":       {"General/Theme"}, // not once more among all settings
			"zebras":      {"All settings/x"},
			"skills":      {"Skills/"},
		} {
			if got := found(query); !slices.Equal(got, want) {
				t.Errorf("%q: got %q, want %q", query, got, want)
			}
		}
		found("zebras")
		s.search.open(0)
		pagetest.Settle()
		if r := s.all.rows["x"]; r == nil || !r.mark.band.Visible() || s.w.Canvas().Focused() != r.focusTarget {
			t.Errorf("the setting is not marked, or %T has the keyboard", s.w.Canvas().Focused())
		}
		found("quiet hours")
		s.search.move(1)
		s.search.move(5)
		s.search.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		pagetest.Settle()
		if m := s.own.sections["Quiet hours"]; m == nil || !m.band.Visible() || s.own.sections["Notify me about"].band.Visible() {
			t.Error("the section is not marked, or another one is")
		}
	})
}

func TestEverySectionIsFound(t *testing.T) {
	inSettings(t, 880, func(t *testing.T, s *testPage) {
		s.e.Feed.Update(func(v *feed.View) { v.Status.Status = protocol.Status{Listen: "127.0.0.1:1"} }, s.e.Feed.All()...)
		for page, list := range sections {
			s.Open(page)
			pagetest.Settle()
			want := map[string]bool{}
			for _, x := range list {
				want[x.title] = true
			}
			delete(s.own.sections, "fairlead:// links") // on some systems
			if got := slices.Sorted(maps.Keys(s.own.sections)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Errorf("%s: got %q, the search knows %q; want %q", page, got, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(want)))
			}
		}
	})
}

func TestPagesOfOthersGetTheirPlace(t *testing.T) {
	inSettings(t, 900, func(t *testing.T, s *testPage) {
		s.OpenAt(host.Page("Skills"))
		if s.other == nil || s.other.at != nil {
			t.Fatalf("the page is open: %v; it should be, at its start", s.other != nil)
		}
		s.OpenAt(host.New("Skills")) // also while it is open
		if got, want := s.other.at, host.Target(host.New("Skills")); got != want {
			t.Errorf("got the place %v, want %v", got, want)
		}
	})
}

func TestLinksShowPages(t *testing.T) {
	inSettings(t, 480, func(t *testing.T, s *testPage) {
		for link, want := range map[string]string{
			"fairlead://settings/models": ModelsTitle, "fairlead://settings/all-settings": allSettingsTitle, "FAIRLEAD://Settings/This-Computer/": computerTitle,
			" fairlead://settings/skills?enable=1#x": "Skills",
		} {
			if s.OpenAt(host.Link(link)); s.entries[s.current].Title != want || !s.inPlace {
				t.Errorf("%s: got %q, want %q", link, s.entries[s.current].Title, want)
			}
			pagetest.Settle()
		}
		if len(s.host.Did) > 0 {
			t.Errorf("the links did %q", s.host.Did)
		}
		for link, said := range map[string]string{
			"fairlead://settings": "", "fairlead://settings/": "", "fairlead://settings/nothing": "nothing", "fairlead://settings/models/x": "models/x",
			"fairlead://settings/%E2%80%AEx": "⟨U+202E⟩x", "fairlead://settings/" + strings.Repeat("a", 3000): "aaa",
		} {
			s.host.Did = nil
			s.OpenAt(host.Link(link))
			if got := strings.Join(s.host.Did, ""); s.inPlace || (said == "") != (got == "") || !strings.Contains(got, said) || len(got) > 150 {
				t.Errorf("%s: got %q, page in place of the list: %v; want %q and the list", link, got, s.inPlace, said)
			}
		}
	})
	for _, link := range []string{"fairlead://pair?x=settings", "http://settings/models", "fairlead:settings", "fairlead://settings.example/models", "", "fairlead://settings/%zz"} {
		if _, isLink := ParseLink(link); isLink {
			t.Errorf("%q is a link to the settings", link)
		}
	}
}

func FuzzLinksToTheSettings(f *testing.F) {
	f.Add("fairlead://settings/models")
	f.Add("fairlead://settings/%00?x")
	f.Fuzz(func(t *testing.T, link string) {
		if page, isLink := ParseLink(link); !isLink && page != "" {
			t.Errorf("%q: got the page %q of no link", link, page)
		}
	})
}

func TestSettingsFitTheSmallestWindowWithTheLargestText(t *testing.T) {
	inSettings(t, 480, func(t *testing.T, s *testPage) {
		pagetest.Largest(s.w)
		for _, e := range s.entries {
			s.Open(e.Title)
			pagetest.Settle()
			if min := s.MinSize(); min.Width > 480 || min.Height > 560 {
				t.Errorf("%s needs %v; want Width at most 480 and Height at most 560", e.Title, min)
			}
			pagetest.Shot(t, s.w, "largest-"+e.Title)
		}
		fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	})
}

func TestTypingInTheListSearches(t *testing.T) {
	inSettings(t, 880, func(t *testing.T, s *testPage) {
		s.w.Canvas().Focus(s.list)
		test.Type(s.list, "qu")
		if s.search.field.Text == "" || s.w.Canvas().Focused() != fyne.Focusable(s.search.field) {
			t.Errorf("got %q in the search, and %T has the keyboard; want some s.search.field.Text and s.w.Canvas.Focused %v", s.search.field.Text, s.w.Canvas().Focused(), fyne.Focusable(s.search.field))
		}
		s.search.field.SetText("")
		s.search.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
		if s.w.Canvas().Focused() != fyne.Focusable(s.list) {
			t.Errorf("Down focuses %T, want the list", s.w.Canvas().Focused())
		}
		s.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
		s.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if s.selectedTitle() != ModelsTitle {
			t.Errorf("Enter on the second line: got %q, want %s", s.selectedTitle(), ModelsTitle)
		}
		pagetest.Settle()
	})
}
