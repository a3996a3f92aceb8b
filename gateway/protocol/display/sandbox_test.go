package display

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestSandboxIsDescribedInPlainWords(t *testing.T) {
	t.Parallel()
	app := protocol.Folder{Path: "/srv/app"}
	for _, c := range []struct {
		sandbox string
		host    *protocol.HostInfo
		want    string
	}{
		{
			"files workspace-write, network blocked", &protocol.HostInfo{Workspace: "/srv/app", Folders: []protocol.Folder{app}},
			"files: changes in /srv/app only · network: off · enforced",
		},
		{
			"files workspace-write, network blocked", &protocol.HostInfo{Workspace: "/srv/app", Folders: []protocol.Folder{app}, Enforcement: &protocol.Enforcement{
				Checks: []protocol.EnforcedCheck{{ID: "fs.write.protected", Enforced: true}},
			}},
			"files: changes in /srv/app only, except files that start programs · network: off · enforced",
		},
		{
			"files workspace-write, network allowed", &protocol.HostInfo{Workspace: "/srv/app", Folders: []protocol.Folder{app, {Path: "/srv/lib"}}},
			"files: changes in /srv/app and the allowed folders only · network: on · enforced",
		},
		{
			"files workspace-write, network not enforced on this machine", nil,
			"files: changes in the workspace and the allowed folders only · network: not enforced on this machine",
		},
		{"files read-only, network blocked", nil, "files: no changes · network: off · enforced"},
		{"files not enforced on this machine, network blocked", nil, "files: not enforced on this machine · network: off"},
		{"full access, as set for this machine", nil, "full access, as set for this machine"},
		{"", nil, ""},
	} {
		t.Run(c.sandbox, func(t *testing.T) {
			if got := Sandbox(c.sandbox, c.host); got != c.want {
				t.Errorf("%q: %q, want %q", c.sandbox, got, c.want)
			}
		})
	}
}
