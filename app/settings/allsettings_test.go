package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// saved is a change that a page requested.
type saved struct{ name, value string }

// inAll creates the page without a gateway: the test sets its states and answers its changes with
// refuse.
func inAll(t *testing.T, mode style.Mode, width float32) (a *allSettings, w fyne.Window, asked *[]saved, refuse *error) {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	a = newAllSettings(ctx, newModel(app.Feed), app.Drafts)
	asked, refuse = new([]saved), new(error)
	a.save = func(name string, value []byte, done func(error)) {
		*asked = append(*asked, saved{name, string(value)})
		done(*refuse)
	}
	a.afterDraw = func(f func()) { f() }
	return a, pagetest.Window(t, a.box, width, 900), asked, refuse
}

func number(n float64) *float64 { return &n }

func setting(f protocol.ConfigField, value string) Setting {
	s := Setting{ConfigField: f, Name: f.Path, Value: json.RawMessage(value)}
	if value == "" {
		s.Value = f.Default
	}
	s.Changed = string(s.Value) != string(f.Default)
	return s
}

var (
	wait = protocol.ConfigField{
		Path: "timeouts.llmMs", Title: "Time for a step of the model", Group: "Time limits", Type: "integer",
		Format: protocol.FormatMillis, Default: json.RawMessage(`300000`),
		Min: number(1000), Max: number(86400000), Description: "How long a model may take for one step.",
	}
	jobs = protocol.ConfigField{
		Path: "cron.maxJobs", Title: "Most schedules", Group: "Schedules", Type: "integer", Unit: "schedules",
		Default: json.RawMessage(`100`), Min: number(0), Max: number(100000),
		Description: "How many jobs there may be.", Restart: true,
	}
	runs = protocol.ConfigField{
		Path: "cron.enabled", Title: "Schedules run", Group: "Schedules", Type: "boolean",
		Default: json.RawMessage(`true`), Description: "Whether schedules run.",
	}
	key = protocol.ConfigField{
		Path: "apiKeys.*", Title: "Key", Group: "Keys", Type: "string", Secret: true,
		Description: "The key for the provider of this name.",
	}
	them = protocol.ConfigField{Path: "ui.theme", Title: "Theme", Group: "Windows", Type: "string", Enum: []string{
		"system", "light",
		"dark",
	}, Default: json.RawMessage(`"system"`), Description: "Light or dark."}
	dms = protocol.ConfigField{
		Path: "session.dmScope", Title: "Direct messages share a chat", Group: "Chats", Type: "string",
		Enum:    []string{"main", "per-peer", "per-channel-peer", "per-account-channel-peer"},
		Default: json.RawMessage(`"main"`), Description: "Which direct messages share a chat.",
	}
	rule = protocol.ConfigField{
		Path: "toolApproval.rules", Title: "Rules in the original's form", Group: "Rules for tools", Type: "list",
		Items: "object", Default: json.RawMessage(`[]`), Description: "Each decides the calls it describes.",
	}
)

func sample() View {
	openai := setting(key, `"***"`)
	openai.Name = "apiKeys.openai"
	add := setting(key, "")
	add.Pattern = true
	return View{Loaded: true, List: []Setting{
		openai, add, setting(wait, `60000`), setting(runs, ""), setting(jobs, ""),
		setting(them, ""), setting(dms, ""), setting(rule, ""),
	}}
}

func TestAllSettingsMatchGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  style.Mode
		width float32
	}{{"all", style.Light, 860}, {"all-dark", style.Dark, 860}, {"all-narrow", style.Light, 520}} {
		a, w, _, _ := inAll(t, c.mode, c.width)
		a.update(sample())
		pagetest.Shot(t, w, c.name)
		golden.Markup(t, c.name, a.box)
	}
	a, _, _, _ := inAll(t, style.Light, 860)
	golden.Markup(t, "all-loading", a.box)
	a.update(View{Problem: "The disk is full"})
	golden.Markup(t, "all-problem", a.box)
	a.update(View{Loaded: true})
	a.filter.SetText("nothing has this")
	pagetest.Shows(t, a.box, "No settings found.")
}

func TestSearchGroupAndChangedNarrowTheList(t *testing.T) {
	a, _, _, _ := inAll(t, style.Light, 860)
	a.update(sample())
	shown := func() (n int) {
		widgettest.Visit(a.body, func(o fyne.CanvasObject) {
			for _, r := range a.rows {
				if o == fyne.CanvasObject(r.box) {
					n++
				}
			}
		})
		return n
	}
	if shown() != 8 {
		t.Errorf("%d rows of all, want 8", shown())
	}
	a.filter.SetText("schedules run")
	if shown() != 1 {
		t.Errorf("%d rows found, want 1", shown())
	}
	a.filter.SetText("")
	a.group.SetSelected("Schedules")
	if shown() != 2 {
		t.Errorf("%d rows of a group, want 2", shown())
	}
	a.group.SetSelected(allGroups)
	a.changedOnly.SetChecked(true)
	if shown() != 2 {
		t.Errorf("%d rows that were changed, want 2", shown())
	}
}

func TestTextIsSavedInItsUnitAndARefusalLosesNothing(t *testing.T) {
	a, w, asked, refuse := inAll(t, style.Light, 860)
	a.update(sample())
	r := a.rows["timeouts.llmMs"]
	e := r.focusTarget.(*widgets.Entry)
	if e.Text != "1 minute" {
		t.Fatalf(`it shows %q, want "1 minute"`, e.Text)
	}
	*refuse = protocol.ErrBadRequest.With("timeouts.llmMs must be a whole number from 1000 to 86400000, not 1")
	e.SetText("1 ms")
	test.Tap(pagetest.Button(t, r.box, "Save"))
	if e.Text != "1 ms" || !r.saveButtons.Visible() {
		t.Errorf(`after a refusal it holds %q; want "1 ms"`, e.Text)
	}
	pagetest.Shows(t, r.box, "This must be from 1 second to 24 hours")
	pagetest.Shot(t, w, "all-refused")
	*refuse = nil
	e.SetText("soon")
	test.Tap(pagetest.Button(t, r.box, "Save"))
	pagetest.Shows(t, r.box, "with a unit")
	e.SetText("90 s")
	test.Tap(pagetest.Button(t, r.box, "Save"))
	if last := (*asked)[len(*asked)-1]; last != (saved{
		"timeouts.llmMs",
		"90000",
	}) || len(*asked) != 2 || e.Text != "1 minute 30 seconds" || r.saveButtons.Visible() {
		t.Errorf("asked for %v, shows %q", *asked, e.Text)
	}
}

func TestResetCanBeUndone(t *testing.T) {
	a, _, asked, _ := inAll(t, style.Light, 860)
	a.update(sample())
	r := a.rows["timeouts.llmMs"]
	test.Tap(pagetest.Button(t, r.box, "Reset to default"))
	if e := r.focusTarget.(*widgets.Entry); e.Text != "5 minutes" || r.changedMark.Visible() || r.reset.Visible() {
		t.Errorf(`after a reset it shows %q; want "5 minutes"`, e.Text)
	}
	test.Tap(pagetest.Button(t, r.box, "Undo"))
	if want := fmt.Sprint([]saved{{"timeouts.llmMs", ""}, {"timeouts.llmMs", "60000"}}); fmt.Sprint(*asked) != want || !r.changedMark.Visible() {
		t.Errorf("asked for %v", *asked)
	}
	test.Tap(pagetest.Button(t, a.rows["cron.enabled"].box, "Off"))
	test.Tap(pagetest.Button(t, a.rows["cron.enabled"].box, "Undo"))
	if last := (*asked)[3]; last != (saved{"cron.enabled", ""}) { // it was the default
		t.Errorf("undone as %v", last)
	}
}

func TestRefusedChoiceShowsTheCurrentValue(t *testing.T) {
	a, _, _, refuse := inAll(t, style.Light, 860)
	a.update(sample())
	*refuse = protocol.ErrForbidden.With("only an owner may")
	r := a.rows["ui.theme"]
	test.Tap(pagetest.Button(t, r.box, "Dark"))
	if !pagetest.Button(t, r.box, "Match system").Primary || pagetest.Button(t, r.box, "Dark").Primary {
		t.Error("it shows what was refused")
	}
	pagetest.Shows(t, r.box, "Only an owner may")
}

func TestChangeElsewhereIsShownAndTypedTextStays(t *testing.T) {
	a, _, asked, _ := inAll(t, style.Light, 860)
	a.update(sample())
	typing, idle := a.rows["timeouts.llmMs"], a.rows["cron.maxJobs"]
	e := typing.focusTarget.(*widgets.Entry)
	e.SetText("2 minutes")
	v := sample()
	v.List[2], v.List[4] = setting(wait, `120001`), setting(jobs, `7`)
	a.update(v)
	if e.Text != "2 minutes" || idle.focusTarget.(*widgets.Entry).Text != "7" || !idle.changedMark.Visible() {
		t.Errorf(`shows %q and %q; want "2 minutes" and "7"`, e.Text, idle.focusTarget.(*widgets.Entry).Text)
	}
	pagetest.Shows(t, typing.box, "changed elsewhere")
	test.Tap(pagetest.Button(t, typing.box, "Discard"))
	if e.Text != "2 minutes 1 millisecond" || len(*asked) != 0 {
		t.Errorf(`discarding leaves %q; want "2 minutes 1 millisecond"`, e.Text)
	}
}

func TestSecretIsSetReplacedAndRemovedAndNeverShown(t *testing.T) {
	a, _, asked, _ := inAll(t, style.Light, 860)
	a.update(sample())
	r := a.rows["apiKeys.openai"]
	pagetest.Shows(t, r.box, "A value is set.")
	test.Tap(pagetest.Button(t, r.box, "Replace"))
	e := r.focusTarget.(*widgets.Entry)
	e.SetText("sk-new")
	e.OnSubmitted(e.Text)
	if (*asked)[0] != (saved{"apiKeys.openai", `"sk-new"`}) || e.Text != "" || string(r.setting.Value) != `"***"` {
		t.Errorf("asked for %v, keeps %q and %s", *asked, e.Text, r.setting.Value)
	}
	test.Tap(pagetest.Button(t, r.box, "Remove"))
	if len(*asked) != 1 {
		t.Error("removed without a question")
	}
	test.Tap(pagetest.Button(t, r.box, "Remove permanently"))
	if (*asked)[1] != (saved{"apiKeys.openai", ""}) || r.undo.Visible() {
		t.Errorf("asked for %v", *asked)
	}
}

func TestNameIsAddedWhereThePersonChoosesIt(t *testing.T) {
	a, _, asked, _ := inAll(t, style.Light, 860)
	a.update(sample())
	r := a.rows["apiKeys.*"]
	e := r.focusTarget.(*widgets.Entry)
	e.SetText("a.b")
	test.Tap(pagetest.Button(t, r.box, "Add"))
	pagetest.Shows(t, r.box, "without dots")
	e.SetText("Google Gemini")
	test.Tap(pagetest.Button(t, r.box, "Add"))
	if a.rows["apiKeys.google"] == nil {
		t.Error("the name of a provider does not add a row with its ID")
	}
	e.SetText("mistral")
	test.Tap(pagetest.Button(t, r.box, "Add"))
	added := a.rows["apiKeys.mistral"]
	if added == nil {
		t.Fatal("no row for the name")
	}
	secret := added.focusTarget.(*widgets.Entry)
	secret.SetText("k")
	test.Tap(pagetest.Button(t, added.box, "Save"))
	if fmt.Sprint(*asked) != fmt.Sprint([]saved{{"apiKeys.mistral", `"k"`}}) {
		t.Errorf("asked for %v", *asked)
	}
}

func TestAllSettingsOpenAtOnce(t *testing.T) {
	a, w, _, _ := inAll(t, style.Light, 860)
	v := View{Loaded: true}
	for i := range 60 {
		s := sample().List[2+i%6]
		s.Name = fmt.Sprintf("%s%d", s.Name, i)
		v.List = append(v.List, s)
	}
	var rest []func()
	a.afterDraw = func(f func()) { rest = append(rest, f) }
	began := time.Now()
	a.update(v)
	t.Logf("the first of 60 settings: %v", time.Since(began))
	if n := len(a.rows); n != rowBatch {
		t.Errorf("%d rows are built before anything is seen, want %d", n, rowBatch)
	}
	w.Canvas().Capture()
	for len(rest) > 0 {
		f := rest[0]
		rest = rest[1:]
		began := time.Now()
		f()
		t.Logf("%d rows: %v", len(a.rows), time.Since(began))
	}
	if len(a.rows) != 60 {
		t.Errorf("%d rows of 60, want 60", len(a.rows))
	}
	a.update(v) // the same view builds nothing
	if len(rest) > 0 {
		t.Error("rows are built again")
	}
}

func TestSettingDraftIsRestored(t *testing.T) {
	a, _, _, refuse := inAll(t, style.Light, 800)
	a.update(View{Loaded: true, List: []Setting{setting(jobs, "")}})
	again := func() (r *settingRow, field *widgets.Entry) {
		next := newAllSettings(a.ctx, a.model, a.drafts)
		next.save, next.afterDraw = a.save, a.afterDraw
		next.update(a.view)
		r = next.row(a.view.List[0])
		return r, r.focusTarget.(*widgets.Entry)
	}
	_, field := again()
	field.SetText("12")
	r, field := again()
	if field.Text != "12" || !r.saveButtons.Visible() || r.result.Text() != widgets.DraftRestored {
		t.Errorf("Setting after the return: got %q, %q, want what was typed", field.Text, r.result.Text())
	}
	*refuse = errors.New("too many")
	r.saveTyped()
	if _, field = again(); field.Text != "12" {
		t.Errorf("Setting after a refused save: got %q, want what was typed", field.Text)
	}
	*refuse = nil
	r.saveTyped()
	if _, field = again(); field.Text != "100" {
		t.Errorf("Setting after it was saved: got %q, want the gateway's value", field.Text)
	}
}
