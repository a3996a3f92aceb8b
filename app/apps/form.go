package apps

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/grant"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// form makes a new token.
type form struct {
	p           *Page
	name        *widgets.Entry
	period      *widgets.Select
	permissions *grant.Permissions
	machines    *grant.Machines
	message     *widgets.Paragraph
	create      *widgets.Button
	draft       unsaved.Draft[tokenDraft]
}

// tokenDraft is the content of a form.
type tokenDraft struct {
	name   string
	period int // index in periods
	scopes []protocol.Scope
	some   bool // only nodes, of which there may be none yet
	nodes  []protocol.NodeID
}

// periods are how long a token is valid; the first is the default. A token outlives the day on which
// it was made, unlike an invitation.
var periods = []struct {
	Text string
	Days int
}{{Text: "30 days", Days: 30}, {Text: "90 days", Days: 90}, {Text: "A year", Days: 365}, {Text: "No end"}}

func periodTexts() (texts []string) {
	for _, x := range periods {
		texts = append(texts, x.Text)
	}
	return texts
}

// newTokenScopes are the permissions of a new token unless the person changes them: those without
// an effect.
var newTokenScopes = []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeFilesRead, protocol.ScopeNetRead}

func (p *Page) openForm() {
	p.Show(widgets.Detail{})
	draft, left := unsaved.Open(p.e.Drafts, "token", tokenDraft{scopes: newTokenScopes})
	f := &form{p: p, name: widgets.NewEntry(), message: widgets.NewParagraph("", style.ColorBad, "text"), draft: draft}
	f.name.SetText(left.name)
	f.name.OnChanged = func(string) { f.saveDraft() }
	f.name.SetPlaceHolder("Where you will use it, such as Backup script")
	f.name.OnSubmitted = func(string) { f.submit() }
	f.period = widgets.NewSelect(periodTexts(), nil)
	f.period.SetSelectedIndex(left.period)
	f.period.OnChanged = func(string) { f.saveDraft() }
	f.permissions = grant.NewPermissions(protocol.AppScopes, left.scopes, f.saveDraft)
	f.machines = grant.NewMachines(p.view.Machines, left.some, left.nodes, func() {
		f.saveDraft()
		p.Box.Refresh()
	})
	f.create = widgets.NewButton("Create token", "check", f.submit)
	f.create.Primary = true
	f.message.Hide()
	cancel := widgets.NewQuietButton("Cancel", "", func() {
		draft.Drop()
		p.Leave()
	})
	discard := func() {
		draft.Drop()
		p.openForm()
	}
	p.Put(widgets.NewPage("New token", widgets.NewInputForm(f.message, widgets.Row(style.Inside, -1, f.create, cancel),
		widgets.NewDraftLine(draft.IsRestored, discard),
		widgets.NewParagraph("A token lets a script or an app that cannot sign in use your machines over MCP or REST.", style.ColorText, "text"),
		widgets.NewField("Name", f.name), widgets.NewField("Valid for", widgets.LimitWidth(260, true, f.period)),
		widgets.NewSectionHeading("IT MAY"), f.permissions.Box, widgets.NewSectionHeading("ON"), f.machines.Box)))
	widgets.FocusIn(p.Box, f.name)
}

func (f *form) saveDraft() {
	f.draft.Save(tokenDraft{f.name.Text, f.period.SelectedIndex(), f.permissions.Chosen(), f.machines.IsSome(), f.machines.Checked()})
}

// params returns the form's values, or what is missing.
func (f *form) params() (p protocol.TokenCreateParams, missing string) {
	p = protocol.TokenCreateParams{Name: strings.TrimSpace(f.name.Text), Scopes: f.permissions.Chosen()}
	p.ExpiresIn = int64(periods[f.period.SelectedIndex()].Days) * 24 * 60 * 60
	nodes, ok := f.machines.Chosen()
	switch {
	case p.Name == "":
		return p, "Give the token a name, so that you recognize it later."
	case len(p.Scopes) == 0:
		return p, "Choose at least one permission."
	case !ok:
		return p, "Choose at least one machine."
	}
	p.Nodes = nodes
	return p, ""
}

func (f *form) submit() {
	in, missing := f.params()
	if missing != "" {
		f.say(missing)
		return
	}
	f.create.Disable()
	var r protocol.TokenCreateResult
	bind.Run(f.p.ctx, f.draft.Saving(func(ctx context.Context) (err error) {
		r, err = f.p.m.CreateToken(ctx, in)
		return err
	}), func(err error) {
		f.create.Enable()
		if err != nil {
			f.say("The token was not created: " + feed.Sentence(err))
			return
		}
		f.draft.Drop()
		f.p.showToken(r)
	})
}

func (f *form) say(text string) {
	f.message.Set(text, style.ColorBad)
	f.message.Show()
	f.p.LayOutText()
}

// showToken shows a new token, once.
func (p *Page) showToken(r protocol.TokenCreateResult) {
	done := widgets.NewButton("Done", "check", p.Leave)
	copyToken := widgets.NewButton("Copy token", "copy", func() {
		p.e.Copy(r.Token)
		p.e.Say("The token was copied.")
	})
	copyToken.Primary = true
	token := widgets.NewSelectableCode(r.Token)
	rows := []fyne.CanvasObject{
		widgets.NewParagraph("Copy the token now. Fairlead stores only a fingerprint of it and cannot show it again.", style.ColorText, "text"),
		token, widgets.Row(style.Inside, -1, copyToken, done),
	}
	if p.view.Status.Listen != "" {
		rows = append(rows, p.example("http://"+p.view.Status.Listen))
	}
	p.Put(widgets.NewPage("Token for “"+r.App.Name+"”", widgets.NewForm(rows...)))
	widgets.FocusIn(p.Box, copyToken)
}

// example shows how to call a tool of the gateway at an address.
func (p *Page) example(address string) fyne.CanvasObject {
	text := "curl -X POST " + address + "/api/v1/tools/whoami \\\n  -H \"Authorization: Bearer $TOKEN\" -H \"Content-Type: application/json\" -d '{}'"
	copyText := widgets.NewQuietButton("Copy", "copy", func() {
		p.e.Copy(text)
		p.e.Say("The command was copied.")
	})
	tools := widgets.NewQuietButton("See all tools", "external", func() { p.e.Open(host.URL(address + "/api/")) })
	return widgets.NewField("Try it in a terminal, with the token as the variable TOKEN", widgets.NewSelectableCode(text), widgets.Flow(style.Inside, copyText, tools))
}
