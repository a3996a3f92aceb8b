package pairing

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// The settings from strict to permissive. An unlisted one counts as the most permissive.
var (
	sandboxOrder = []string{"read-only", "workspace-write", "full", ""}
	networkOrder = []string{"blocked", "ask", "allowed", ""}
)

func isMorePermissive(order []string, was, is string) bool {
	rank := func(s string) int {
		if i := slices.Index(order, s); i >= 0 {
			return i
		}
		return len(order)
	}
	return rank(is) > rank(was)
}

// newReach describes what is offers beyond was, and returns the tools to hold until the person
// approves: only the new ones, or all if the allowed tools reach further than before.
func newReach(was, is *protocol.Reach) (words, held []string) {
	if was == nil {
		was = &protocol.Reach{Sandbox: sandboxOrder[0], Network: networkOrder[0]}
	}
	for _, t := range is.Tools {
		if !slices.Contains(was.Tools, t) {
			words, held = append(words, "the tool "+t), append(held, t)
		}
	}
	all := false
	further := func(format string, args ...any) {
		words, all = append(words, fmt.Sprintf(format, args...)), true
	}
	for _, c := range is.Caps {
		if !slices.Contains(was.Caps, c) {
			further("the ability %s", c)
		}
	}
	if isMorePermissive(sandboxOrder, was.Sandbox, is.Sandbox) {
		further("commands that are less confined: %s instead of %s", displaySetting(is.Sandbox), displaySetting(was.Sandbox))
	}
	if isMorePermissive(networkOrder, was.Network, is.Network) {
		further("the network for commands: %s instead of %s", displaySetting(is.Network), displaySetting(was.Network))
	}
	if is.Disk && !was.Disk {
		further("the whole disk")
	}
	for _, f := range is.Folders {
		if !was.Disk && !isAllowedFolder(was.Folders, f) {
			how := "to read and write"
			if f.ReadOnly {
				how = "to read"
			}
			further("the folder %s, %s", folderName(f.Path), how)
		}
	}
	if all {
		held = is.Tools
	}
	return words, held
}

// folderName formats a folder for display. It is quoted if it contains characters that the display
// would drop, which would make it look like another folder.
func folderName(path string) string {
	if format.Line(path, 0) != path {
		path = strconv.Quote(path)
	}
	return format.Line(path, 200)
}

// settingWords are the settings in the words of the windows. A machine that does not say one does
// not limit its commands.
var settingWords = map[string]string{
	"read-only": "reading only", "workspace-write": "writing in the workspace", "full": "full access",
	"ask": "after a question each time", "": "no limits",
}

func displaySetting(s string) string {
	if words, ok := settingWords[s]; ok {
		return words
	}
	return format.Line(s, 40)
}

// isAllowedFolder reports whether a folder lies in an allowed one, for the same use.
func isAllowedFolder(allowed []protocol.Folder, f protocol.Folder) bool {
	inside := func(dir, p string) bool {
		dir, p = path.Clean(strings.ReplaceAll(dir, `\`, "/")), path.Clean(strings.ReplaceAll(p, `\`, "/"))
		return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	}
	return slices.ContainsFunc(allowed, func(a protocol.Folder) bool {
		return inside(a.Path, f.Path) && (f.ReadOnly || !a.ReadOnly)
	})
}

func fingerprint(r *protocol.Reach) string {
	raw, _ := json.Marshal(r) // cannot fail: only strings and bools
	return string(raw)
}

// Admit decides how a paired node connects: with all its tools, or with tools held that go beyond
// its pairing. In the second case it asks the person.
func (m *Manager) Admit(ctx context.Context, p auth.Principal, params protocol.ConnectParams) nodes.Entry {
	if p.Device == "" {
		return nodes.Entry{}
	}
	is := protocol.ReachOf(params)
	m.changing.Lock() // the permissions of a node must not change while it connects
	d := m.devices.get(p.Device)
	if d == nil {
		m.changing.Unlock()
		return nodes.Entry{Device: p.Device, Unapproved: is.Tools}
	}
	words, held := newReach(d.Reach, is)
	d.Reach = is
	offer := m.devices.display(d)
	m.changing.Unlock() // answers to the questions take it
	if err := m.requests.widen(ctx, offer, words, m.answerWidening(offer)); err != nil {
		slog.Error("Asking about what a machine offers failed", "node", offer.NodeID, "err", err)
	}
	publishChange(m.o.Bus)
	e := nodes.Entry{Device: d.ID, Unapproved: held, Words: d.Words}
	if d.Name != string(d.NodeID) {
		e.Name = d.Name
	}
	return e
}
