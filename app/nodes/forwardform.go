package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// forwardForm asks for a port of a machine and for the local port that shall lead to it.
type forwardForm struct {
	of       *forwardings
	machines []protocol.NodeInfo // the choices
	machine  *widgets.Select
	target   *widgets.Entry
	leads    *widgets.Paragraph // what was understood, or what is wrong
	local    *widgets.Entry
	suggests bool // the local port follows the target, because the person has not changed it
	free     *widgets.CheckBox
	again    *widgets.CheckBox
	message  *widgets.Paragraph
	open     *widgets.Button
}

// forwardable lists the machines whose ports can be forwarded: this computer's own need no forward.
func forwardable(v feed.View) []protocol.NodeInfo {
	return lists.Without(v.Machines, func(n protocol.NodeInfo) bool { return !n.Online || n.Local && !v.Status.Remote })
}

// openForm shows the form that forwards a port of a machine; without one, it asks for that too.
func (w *forwardings) openForm(id protocol.NodeID) {
	p := w.p
	p.onClose()
	f := &forwardForm{
		of: w, machines: forwardable(p.view), target: widgets.NewEntry(), local: widgets.NewEntry(), leads: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		suggests: true, message: widgets.NewStatus(),
	}
	leave := func() {
		if id == "" {
			p.Leave()
			return
		}
		p.Open(id)
	}
	p.Show(widgets.Detail{Back: func() bool { leave(); return true }, Closed: p.onClose})
	title := "Forward a port"
	if n, ok := p.view.Machines.Find(id); ok {
		f.machines, title = []protocol.NodeInfo{n}, "Forward a port of "+n.DisplayName()
	}
	cancel := widgets.NewQuietButton("Cancel", "", leave)
	if len(f.machines) == 0 {
		p.Put(widgets.NewPage(title, widgets.NewEmptyPage("machine", "No other machine is connected",
			"A forward leads from a port of this computer to one of another machine. Add a machine, or start Fairlead on it.", newAddButton(p.Invite), cancel)))
		widgets.FocusIn(p.Box, cancel)
		return
	}
	f.fields()
	p.Put(widgets.NewPage(title, widgets.NewInputForm(f.message, widgets.Row(style.Inside, -1, f.open, cancel), f.rows(id == "")...)))
	f.changed()
	widgets.FocusIn(p.Box, f.target)
}

func (f *forwardForm) fields() {
	f.machine = widgets.NewSelect(lists.Map(f.machines, protocol.NodeInfo.DisplayName), func(string) { f.changed() })
	f.machine.SetSelectedIndex(0)
	f.target.SetPlaceHolder("8080, or HOST:PORT such as db.lan:5432")
	f.target.OnChanged = func(string) { f.changed() }
	f.target.OnSubmitted = func(string) { f.submit() }
	f.local.OnChanged = func(string) { f.suggests = false }
	f.local.OnSubmitted = func(string) { f.submit() }
	f.free = widgets.NewCheckBox("Any free port", func(on bool) { widgets.SetEnabled(f.local, !on) })
	f.again = widgets.NewCheckBox("Open again when Fairlead starts", nil)
	f.open = widgets.NewButton("Forward", "check", f.submit)
	f.open.Primary = true
}

func (f *forwardForm) rows(withMachine bool) []fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewParagraph("Opens a port on this computer that leads to a port of the machine. It stays open until you close it or quit Fairlead.", style.ColorText, "text")}
	if withMachine {
		rows = append(rows, widgets.NewField("Machine", widgets.LimitWidth(260, true, f.machine)))
	}
	return append(rows,
		widgets.NewField("Port of the machine", widgets.LimitWidth(420, true, f.target), f.leads),
		widgets.NewField("Port on this computer", widgets.LimitWidth(160, true, f.local), widgets.Row(0, -1, f.free)),
		widgets.Row(0, -1, f.again))
}

// changed shows what was understood, and suggests a local port.
func (f *forwardForm) changed() {
	target, err := parseForwardTarget(f.target.Text)
	switch {
	case f.target.Text == "":
		f.leads.Set("", style.ColorMuted)
	case err != nil:
		f.leads.Set(format.Capital(err.Error())+".", style.ColorBad)
	default:
		f.leads.Set(targetText(target, f.machine.Selected), style.ColorMuted)
		if f.suggests {
			f.local.SetText(defaultLocal(target))
			f.suggests = true
		}
	}
	f.of.p.LayOutText()
}

// submit opens the forward, or says which field is wrong.
func (f *forwardForm) submit() {
	fail := func(at *widgets.Entry, err error) {
		f.message.Set(format.Capital(err.Error())+".", style.ColorBad)
		f.of.p.LayOutText()
		widgets.Focus(at)
	}
	target, err := parseForwardTarget(f.target.Text)
	if err != nil {
		fail(f.target, err)
		return
	}
	spec := forwards.Spec{Node: f.machines[f.machine.SelectedIndex()].ID, Target: target}
	if !f.free.Checked {
		if spec.Port, err = parseLocalPort(f.local.Text); err != nil {
			fail(f.local, err)
			return
		}
	}
	f.message.Set("Opening…", style.ColorMuted)
	f.open.Disable()
	p := f.of.p
	bind.Go(p.ctx, func(ctx context.Context) (forwards.Forward, error) { return f.of.own.Open(ctx, spec, f.again.Checked) }, func(o forwards.Forward, err error) {
		f.open.Enable()
		if err != nil {
			fail(f.target, openError(err, spec.Port))
			return
		}
		p.Open(spec.Node)
		p.e.Say(forwardTitle(o.Local(), o.Target) + " of " + p.view.Machines.Name(o.Node) + ".")
	})
}

// openError says why a forward was not opened.
func openError(err error, port uint16) error {
	e, ok := errors.AsType[*net.OpError](err)
	if !ok || e.Op != "listen" {
		return err
	}
	cause := e.Err
	if call, ok := errors.AsType[*os.SyscallError](cause); ok {
		cause = call.Err
	}
	return fmt.Errorf("port %d of this computer cannot be opened: %w. Choose another one, or any free port", port, cause)
}
