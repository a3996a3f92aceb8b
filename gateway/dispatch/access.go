package dispatch

import (
	"slices"

	"fairlead/gateway/protocol"
)

// chosen are the folders that an answer opened.
func chosen(end protocol.Approval) (list []protocol.FolderAccess) {
	for _, i := range end.Access {
		if end.Preview != nil && i >= 0 && i < len(end.Preview.Folders) {
			list = append(list, end.Preview.Folders[i])
		}
	}
	return list
}

// bind has the machine refuse a read that passed unasked for where its path leads, when that leads elsewhere by now: through a link that was changed
// meanwhile it would be the way to keys in the workspace.
func (t *task) bind(inv *protocol.ToolInvoke) (err error) {
	p := t.row.Info.Preview
	if inv.Approved != "" || p == nil || p.Path == "" || t.spec.Effect != protocol.EffectRead || t.call.Direct || t.row.Info.Node == protocol.NativePrefix {
		return nil
	}
	inv.Policy = t.rules.Version()
	inv.Approved, err = protocol.CallHash(protocol.AskCall, t.row.Info.Node, t.spec.Name, t.call.Args, p, inv.Policy)
	return err
}

// admit puts the folders that the call may use into what the machine is told, and binds them to it. What a file tool needs outside is the very thing
// that was allowed, so its folder opens with the allow; where that was no person's answer, none that carries a warning does. A command gets what the
// person chose.
func (t *task) admit(inv *protocol.ToolInvoke) error {
	p := t.row.Info.Preview
	if p == nil || len(p.Folders) == 0 || t.call.Direct {
		return nil
	}
	asked := t.row.Info.ApprovalID != ""
	for _, f := range p.Folders {
		file := t.spec.Effect == protocol.EffectRead || t.spec.Effect == protocol.EffectWrite
		if slices.Contains(t.opened, f) || file && (asked && !t.changed || f.Warning == "") {
			inv.Folders = append(inv.Folders, f)
		}
	}
	if len(inv.Folders) == 0 {
		return nil
	}
	if !asked {
		t.policy = t.rules.Version()
	}
	var err error
	inv.Policy = t.policy
	inv.Approved, err = protocol.CallHash(protocol.AskCall, t.row.Info.Node, t.spec.Name, t.call.Args, p, t.policy, inv.Folders...)
	return err
}
