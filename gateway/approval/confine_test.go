package approval

import (
	"slices"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// confiningHost returns a machine that confines commands to their workspace, without network and
// without ~/.aws.
func confiningHost() *protocol.HostInfo {
	h := &protocol.HostInfo{
		Workspace: "/srv/app", Home: "/home/me", Folders: []protocol.Folder{{Path: "/srv/app"}, {Path: "/srv/lib", ReadOnly: true}},
		Enforcement: &protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Hidden: []string{"/home/me/.aws"}, SetsAside: []string{"/srv/app"}},
	}
	for _, id := range append(slices.Clone(policy.RequiredChecks), "fs.read.secrets", protocol.ProtectedCheck) {
		h.Enforcement.Checks = append(h.Enforcement.Checks, protocol.EnforcedCheck{ID: id, Enforced: true})
	}
	return h
}

// TestRulesAboutFilesHoldForUnknownCodeByTheSandboxOnly: a call needs an approval if the machine is
// not known to protect a rule's files, even in a trusted chat, and the approval names the rules
// that are enforced.
func TestRulesAboutFilesHoldForUnknownCodeByTheSandboxOnly(t *testing.T) {
	outside := `{"tool":"Write","path":"!/etc/**","verdict":"deny"}`
	inside := `{"tool":"Write","path":"gen/**","verdict":"deny"}`
	keys := `{"tool":"Read","path":"~/.aws/**","verdict":"deny"}`
	lib := `{"tool":"Write","path":"!/srv/lib/**","verdict":"deny"}`
	many := `{"tool":"Write","path":"**/gen/*.go","verdict":"deny"}`
	temp := `{"tool":"Write","path":"!/tmp/x/**","verdict":"deny"}`
	for name, c := range map[string]struct {
		rule   string
		change func(*protocol.HostInfo)
		want   policy.Verdict
		files  string
	}{
		"held":                       {outside, func(*protocol.HostInfo) {}, policy.Allow, "the sandbox protects !/etc/**"},
		"a folder that is read only": {lib, func(*protocol.HostInfo) {}, policy.Allow, "the sandbox protects !/srv/lib/**"},
		"a hidden place":             {keys, func(*protocol.HostInfo) {}, policy.Allow, "the sandbox protects ~/.aws/**"},
		"nothing is written":         {inside, func(h *protocol.HostInfo) { h.Enforcement.Mode = "read-only" }, policy.Allow, "the sandbox protects gen/**"},
		"in the workspace":           {inside, func(*protocol.HostInfo) {}, policy.Allow, "the sandbox protects gen/**"},
		"many places":                {many, func(*protocol.HostInfo) {}, policy.Allow, "the sandbox protects **/gen/*.go"},
		"many on an older machine":   {many, func(h *protocol.HostInfo) { h.Enforcement.SetsAside = nil }, policy.Ask, "the code it runs may access **/gen/*.go despite your rules"},
		"one on an older machine":    {inside, func(h *protocol.HostInfo) { h.Enforcement.SetsAside = nil }, policy.Ask, "the code it runs may access gen/** despite your rules"},
		"private temporary files":    {temp, func(h *protocol.HostInfo) { h.Enforcement.SetsAside = []string{"/srv/app", "/tmp"} }, policy.Allow, "the sandbox protects !/tmp/x/**"},
		"temporary files":            {temp, func(*protocol.HostInfo) {}, policy.Ask, "the code it runs may access !/tmp/x/** despite your rules"},
		"a folder that was opened": {outside, func(h *protocol.HostInfo) {
			h.Folders, h.Enforcement.SetsAside = append(h.Folders, protocol.Folder{Path: "/etc/app"}), append(h.Enforcement.SetsAside, "/etc/app")
		}, policy.Allow, "the sandbox protects !/etc/**"},
		// the rule itself hides them
		"keys that were opened": {keys, func(h *protocol.HostInfo) {
			h.Folders = append(h.Folders, protocol.Folder{Path: "/home/me/.aws/x", ReadOnly: true})
		}, policy.Allow, "the sandbox protects ~/.aws/**"},
		"nothing is hidden":              {keys, func(h *protocol.HostInfo) { h.Enforcement.Hidden = nil }, policy.Allow, "the sandbox protects ~/.aws/**"},
		"names that only a search finds": {`{"tool":"Read","path":"~/*.key","verdict":"deny"}`, func(*protocol.HostInfo) {}, policy.Ask, "the code it runs may access ~/*.key despite your rules"},
		"full access":                    {outside, func(h *protocol.HostInfo) { h.Enforcement.Mode = "full" }, policy.Ask, "the code it runs may access !/etc/** despite your rules"},
		"the network is open":            {outside, func(h *protocol.HostInfo) { h.Enforcement.Network = "allowed" }, policy.Ask, "the code it runs may access !/etc/** despite your rules"},
		"nothing is known":               {outside, func(h *protocol.HostInfo) { h.Enforcement = nil }, policy.Ask, "the code it runs may access !/etc/** despite your rules"},
		"sockets of services": {outside, func(h *protocol.HostInfo) {
			h.Enforcement.Checks = slices.DeleteFunc(h.Enforcement.Checks, func(c protocol.EnforcedCheck) bool { return c.ID == "unix.sockets" })
		}, policy.Ask, "the code it runs may access !/etc/** despite your rules"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rulesOf(t, config.Default().ToolApproval)
			put(t, r, c.rule)
			h := confiningHost()
			c.change(h)
			for _, text := range []string{"make", "npm test", "docker exec box ls", "./x"} {
				q := command(text)
				q.Host = h
				q.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
				if d := r.Decide(t.Context(), q); d.Verdict != c.want || d.Files() != c.files {
					t.Errorf("%q: got %s (%s), %q, want %s, %q", text, d.Verdict, d.Reason, d.Files(), c.want, c.files)
				}
			}
			q := command("ls")
			q.Host = h
			if d := r.Decide(t.Context(), q); d.Files() != "" {
				t.Errorf("%s: ls runs no code, and it says %q, want nothing", name, d.Files())
			}
		})
	}
}

func TestSeveralRulesAreNamedInOneSentence(t *testing.T) {
	d := policy.Decision{Unenforced: []string{"a/**", "b/**", "c/**", "d/**"}, Enforced: []string{"e/**"}}
	if got := d.Files(); got != "the code it runs may access a/**, b/**, c/** and more despite your rules; the sandbox protects e/**" {
		t.Errorf("got %v, want %q", got, "the code it runs may access a/**, b/**, c/** and more despite your rules; the sandbox protects e/**")
	}
}
