package app

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/approve"
	"fairlead/app/settings"
	"fairlead/app/state"
	"fairlead/gateway"
	"fairlead/gateway/protocol"
)

// showApprovals opens the dialog when an approval arrives, and closes it when no approval is left
// that is not snoozed.
func (s *shell) showApprovals(v state.View) {
	waiting := v.Waiting()
	if len(waiting) == 0 {
		if s.approval != nil {
			s.approval.Close()
			s.approval, s.dialog = nil, nil
			if n := len(v.Closed); n > 0 && !v.Closed[n-1].Here && len(v.Approvals) == 0 {
				s.say("The question was answered elsewhere: " + state.Ended(v.Closed[n-1].Approval) + ".")
			}
		}
		return
	}
	if s.approval == nil {
		s.openApproval(v)
	} else {
		s.dialog.Update(waiting, v.Closed)
	}
	s.approval.SetTitle(state.QuestionTitle(s.dialog.Current()))
	if s.wanted != "" {
		s.review(s.wanted)
	}
}

func (s *shell) openApproval(v state.View) {
	w := s.app.NewWindow("Fairlead needs you")
	s.approval = w
	s.dialog = approve.New(s.approvalHandlers(w), &s.machines, w.Canvas())
	w.SetPadded(false)
	w.SetContent(s.dialog)
	s.dialog.Update(v.Waiting(), nil)
	w.Resize(s.dialog.Best())
	w.SetCloseIntercept(func() { s.dialog.Close() })
	w.CenterOnScreen()
	s.showQuietly(w)
	s.dialog.OnScreen(true)
}

// review brings an approval to the front, even a snoozed one.
func (s *shell) review(id protocol.ApprovalID) {
	s.wanted = ""
	for _, q := range s.view.Approvals {
		if q.ID == id && q.Later != 0 {
			s.wanted = id // open it once the view has it again
			s.b.state.Approvals.Unsnooze(id)
			return
		}
	}
	if s.approval == nil {
		return
	}
	s.dialog.Select(id)
	s.approval.Show()
	s.approval.RequestFocus()
}

// reviewAll brings an approval to the front, to be answered together with all identical ones.
func (s *shell) reviewAll(id protocol.ApprovalID) {
	s.review(id)
	if s.dialog != nil && s.dialog.Current().ID == id {
		s.dialog.TogetherWithAlike()
	}
}

func (s *shell) openSettings() {
	if s.settings != nil {
		s.settings.Show()
		s.settings.RequestFocus()
		return
	}
	w := s.app.NewWindow("Settings – Fairlead")
	ctx, cancel := context.WithCancel(s.ctx)
	h := settings.Handlers{
		OpenURL: s.openURL, OpenPath: s.openPath, Theme: s.setTheme, Copy: s.app.Clipboard().SetContent,
		PickFolder: func(done func(string)) { pickFolder(w, done) },
	}
	if s.b.f.join == "" {
		h.Local, h.Gateways = local{s.b}, s.b.elsewhere
	}
	page := settings.New(ctx, s.b.state, h, gateway.Version)
	w.SetContent(page)
	w.SetPadded(false)
	last := s.b.prefs.get()
	w.Resize(sizeOr(last.SettingsWidth, last.SettingsHeight, fyne.NewSize(860, 640)))
	w.SetOnClosed(func() {
		cancel()
		s.keepSettingsSize()
		s.settings = nil
	})
	shortcut(w, fyne.KeyW, func() { w.Close() })
	shortcut(w, fyne.KeyQ, s.quit)
	for key, by := range map[fyne.KeyName]int{fyne.KeyPageDown: 1, fyne.KeyPageUp: -1, fyne.KeyTab: 1} {
		shortcut(w, key, func() { page.Turn(by) })
	}
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyTab, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, func(fyne.Shortcut) { page.Turn(-1) })
	w.CenterOnScreen()
	s.settings, s.invite, s.find = w, page.Invite, page.Find
	w.Show()
}

// openInvitation opens the settings window, with a pairing invitation if there is one. The person
// decides whether to accept it.
func (s *shell) openInvitation(link string) {
	if link == "" || s.b.f.join != "" {
		return
	}
	s.openSettings()
	s.invite(link)
}
