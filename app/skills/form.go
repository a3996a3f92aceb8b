package skills

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (p *Page) openForm() {
	draft, n := unsaved.Open(p.e.Drafts, "skill", newSkill{})
	message := widgets.NewParagraph("", style.ColorMuted, "text")
	message.Hide()
	say := func(text string, color fyne.ThemeColorName) {
		message.Set(text, color)
		message.Show()
		p.LayOutText()
	}
	name, where := newNameField(n.Name, func(s string) { n.Name = s; draft.Save(n) })
	when := widgets.NewTextArea(3, "Write the release notes of a version. Use it when I say “what is new” or “write the changelog”.")
	when.SetText(n.When)
	when.OnChanged = func(s string) { n.When = s; draft.Save(n) }
	caps := newNeeds(func(list []string) { n.Caps = list; draft.Save(n) })
	caps.set(n.Caps)
	create := widgets.NewButton("Create and edit", "check", nil)
	create.Primary = true
	create.OnTap = func() {
		say("Creating…", style.ColorMuted)
		create.Disable()
		n, path := n, ""
		bind.Run(p.ctx, draft.Saving(func(ctx context.Context) (err error) {
			path, err = p.m.Create(ctx, n)
			return err
		}), func(err error) {
			create.Enable()
			if err != nil {
				say("Not created: "+err.Error()+".", style.ColorBad)
				return
			}
			draft.Drop()
			p.e.Open(host.AgentFile(path))
		})
	}
	name.OnSubmitted = func(string) { widgets.Focus(when) }
	cancel := widgets.NewQuietButton("Cancel", "", func() {
		draft.Drop()
		p.ShowList()
		widgets.Focus(p.search)
	})
	discard := draft.Discarding(func() { p.openForm() })
	p.Show(widgets.Detail{})
	p.Put(widgets.NewPage("New skill", widgets.NewInputForm(message, widgets.Row(style.Inside, -1, create, cancel),
		widgets.NewDraftLine(draft.IsRestored, discard),
		widgets.NewField("Name", name, where),
		widgets.NewField("What it does and when to use it", when,
			widgets.NewParagraph("The agent sees only this until it opens the skill.", style.ColorMuted, style.SizeSmall)),
		widgets.NewField("Required on the machine", caps.box))))
	widgets.Focus(name)
}

// newNameField returns the field for a skill's name, and the line below it with the skill's file.
func newNameField(text string, save func(string)) (name *widgets.Entry, where *widgets.Text) {
	where = widgets.NewText("", style.ColorMuted, style.SizeSmall)
	where.Ellipsis = true
	name = widgets.NewEntry()
	name.SetPlaceHolder("Release notes")
	name.OnChanged = func(s string) {
		save(s)
		where.SetText("")
		if folder := SkillFolder(s); folder != "" {
			where.SetText("skills/" + folder + "/SKILL.md")
		}
	}
	name.SetText(text)
	return name, where
}

// settings are the person's overrides of a skill's file.
type settings struct {
	p           *Page
	box         *fyne.Container
	always      *widgets.Select
	needs       *needs
	resetButton *widgets.Button
	notice      *widgets.Paragraph
	e           protocol.SkillStatusEntry
	updating    bool // the controls are being set by the program
}

var alwaysWords = []string{"As in its file", "Always", "Only when the agent opens it"}

func newSettings(p *Page) *settings {
	s := &settings{p: p, notice: widgets.NewParagraph("", style.ColorMuted, "text")}
	s.always = widgets.NewSelect(alwaysWords, func(word string) {
		switch {
		case s.updating:
		case word == alwaysWords[0]:
			p.m.SetAlways(s.e, nil)
		default:
			p.m.SetAlways(s.e, new(word == alwaysWords[1]))
		}
	})
	s.needs = newNeeds(func(caps []string) { p.m.SetNeeds(s.e, caps) })
	s.resetButton = widgets.NewQuietButton("As in its file", "reset", func() { p.m.SetNeeds(s.e, nil) })
	fields := widgets.Col(style.Group, widgets.NewField("Include its text", widgets.LimitWidth(320, true, s.always)),
		widgets.NewField("Required on the machine", s.needs.box, widgets.Row(0, -1, s.resetButton)))
	s.box = widgets.Col(style.Group, widgets.NewSectionHeading("SETTINGS"), s.notice, fields)
	return s
}

func (s *settings) show(e protocol.SkillStatusEntry, set Settings) {
	s.e = e
	s.updating = true
	defer func() { s.updating = false }()
	choice := alwaysWords[0]
	if set.Always != nil {
		choice = alwaysWords[2]
		if *set.Always {
			choice = alwaysWords[1]
		}
	}
	if s.always.Selected != choice {
		s.always.SetSelected(choice)
	}
	s.needs.set(e.Requirements.Capabilities)
	widgets.SetVisible(s.resetButton, set.Requires != nil)
	s.notice.Hide()
	fields := s.box.Objects[2]
	fields.Show()
	if e.SettingsKey == "" {
		s.notice.Set("Settings cannot be saved for this skill: its name and its folder contain a dot.", style.ColorMuted)
		s.notice.Show()
		fields.Hide()
	}
}

type needs struct {
	box      *fyne.Container
	checks   []*widgets.CheckBox
	updating bool
}

var capabilityWords = map[string]string{
	protocol.CapList: "list files", protocol.CapRead: "read files", protocol.CapWrite: "write files", protocol.CapEdit: "edit files",
	protocol.CapSearch: "search in files", protocol.CapExec: "run commands",
}

func newNeeds(changed func([]string)) *needs {
	n := &needs{}
	var objects []fyne.CanvasObject
	for _, c := range protocol.Capabilities {
		words := capabilityWords[c]
		if words == "" {
			words = c
		}
		check := widgets.NewCheckBox(words, func(bool) {
			if !n.updating {
				changed(n.selectedCapabilities())
			}
		})
		n.checks = append(n.checks, check)
		objects = append(objects, check)
	}
	n.box = widgets.Flow(0, objects...)
	return n
}

// selectedCapabilities returns the selected capabilities, never nil.
func (n *needs) selectedCapabilities() []string {
	list := []string{}
	for i, c := range n.checks {
		if c.Checked {
			list = append(list, protocol.Capabilities[i])
		}
	}
	return list
}

func (n *needs) set(caps []string) {
	n.updating = true
	for i, c := range n.checks {
		c.SetChecked(slices.Contains(caps, protocol.Capabilities[i]))
	}
	n.updating = false
}
