package skills

import (
	"context"

	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// openForm opens the form for a new skill of the agent.
func (p *Page) openForm() {
	p.form, p.detail = true, nil
	var n state.NewSkill
	where := widgets.NewText("", style.ColorMuted, style.SizeSmall)
	where.Ellipsis = true
	message := widgets.NewParagraph("", style.ColorMuted, "text")
	name := widget.NewEntry()
	name.SetPlaceHolder("Release notes")
	name.OnChanged = func(s string) {
		n.Name = s
		where.SetText("")
		if folder := state.SkillFolder(s); folder != "" {
			where.SetText("skills/" + folder + "/SKILL.md")
		}
	}
	when := widgets.NewTextArea(3, "Write the release notes of a version. Use it when I say “what is new” or “write the changelog”.")
	when.OnChanged = func(s string) { n.When = s }
	caps := newNeeds(func(list []string) { n.Caps = list })
	create := widgets.NewButton("Create and edit", "check", nil)
	create.Primary = true
	create.OnTap = func() {
		message.Set("Creating…", style.ColorMuted)
		create.Disable()
		bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.m.Create(ctx, n) }, func(path string, err error) {
			create.Enable()
			if err != nil {
				message.Set("Not created: "+err.Error()+".", style.ColorBad)
				return
			}
			p.h.Edit(path)
		})
	}
	name.OnSubmitted = func(string) { widgets.Focus(when) }
	cancel := widgets.NewQuietButton("Cancel", "", func() { p.openList(); widgets.Focus(p.search) })
	p.Put(widgets.NewPage("New skill", widgets.NewForm(
		widgets.NewField("Name", name, where),
		widgets.NewField("What it does and when to use it", when,
			widgets.NewParagraph("The agent sees only this until it opens the skill.", style.ColorMuted, style.SizeSmall)),
		widgets.NewField("What a machine must be able to do", caps.box),
		message,
		widgets.Row(style.Inside, -1, create, cancel))))
	widgets.Focus(name)
}
