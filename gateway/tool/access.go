package tool

import (
	"slices"

	"fairlead/gateway/protocol"
)

// chosen returns the folders that an answer opened.
func chosen(end protocol.Approval) (list []protocol.FolderAccess) {
	for _, i := range end.Access {
		if end.Preview != nil && i >= 0 && i < len(end.Preview.Folders) {
			list = append(list, end.Preview.Folders[i])
		}
	}
	return list
}

// bind makes the node refuse an automatically allowed read if its path resolves elsewhere by now.
// Otherwise a link that was changed meanwhile could lead to keys in the workspace.
func (t *task) bind(inv *protocol.ToolInvoke) (err error) {
	p := t.row.Info.Preview
	if inv.Approved != "" || p == nil || p.Path == "" || t.spec.Effect != protocol.EffectRead || t.call.Direct || t.row.Info.Node == protocol.NativePrefix {
		return nil
	}
	inv.Policy = t.rules.Version()
	inv.Approved, err = protocol.CallHash(protocol.AskCall, t.row.Info.Node, t.spec.Name, t.call.Args, p, inv.Policy)
	return err
}

// admit puts the folders that the call may use into the message to the node, and binds the call to
// them. The folder that a file tool needs outside the workspace is exactly what was allowed, so it
// opens with the allow; but if no person answered, a folder with a warning stays closed. A command
// gets the folders that the person chose.
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
