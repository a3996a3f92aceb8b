package nodes

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Limits of what a node reports about itself and a call. It is shown in every window, stored, and
// published again with every ping.
const (
	maxLine     = 1_000     // characters of a line of text
	maxHost     = 256 << 10 // bytes of all host information
	maxWarnings = 8         // lines
	maxPreview  = 4 << 20   // bytes; our own nodes limit the diff far below that
	maxLive     = 4_000     // characters of live output (protocol.ToolProgress)
)

// line is [format.Line] for a node's texts.
func line(s string) string { return format.Line(s, maxLine) }

// hostOf validates a node's host information and converts its texts to lines. Paths stay unchanged,
// because rules refer to them.
func hostOf(id protocol.NodeID, reported *protocol.HostInfo) (*protocol.HostInfo, error) {
	if reported == nil {
		return nil, nil
	}
	raw, err := json.Marshal(reported)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHost {
		return nil, protocol.ErrInvalidConnect.With(fmt.Sprintf("the host information of %s has %d bytes; the maximum is %d", id, len(raw), maxHost))
	}
	h := *reported
	for _, s := range []*string{&h.Hostname, &h.OS, &h.Arch, &h.Address, &h.User, &h.Sandbox} {
		*s = line(*s)
	}
	if reported.System != nil {
		x := *reported.System
		for _, s := range []*string{&x.Platform, &x.PlatformVersion, &x.KernelArch, &x.Virtualization} {
			*s = line(*s)
		}
		h.System = &x
	}
	if reported.Enforcement == nil {
		return &h, nil
	}
	e := *reported.Enforcement
	for _, s := range []*string{&e.Mode, &e.Network, &e.Summary} {
		*s = line(*s)
	}
	e.Checks, e.Warnings = slices.Clone(e.Checks), slices.Clone(e.Warnings)
	for i := range e.Checks {
		c := &e.Checks[i]
		c.ID, c.By, c.Why, c.Fix = line(c.ID), line(c.By), line(c.Why), line(c.Fix)
	}
	for i, w := range e.Warnings {
		e.Warnings[i] = line(w)
	}
	h.Enforcement = &e
	return &h, nil
}

// lastOf returns the end of a text.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if len(s) > n*utf8.UTFMax {
		s = strings.ToValidUTF8(s[len(s)-n*utf8.UTFMax:], "")
	}
	if r := []rune(s); len(r) > n {
		return string(r[len(r)-n:])
	}
	return s
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkRuntime validates the nodeRuntime of a connect request and returns it with its lists sorted
// and without duplicates. The error messages are those of GSV.
func checkRuntime(p protocol.ConnectParams) (*protocol.NodeRuntime, error) {
	invalid := func(format string, args ...any) error {
		return protocol.ErrInvalidConnect.With("Invalid nodeRuntime: " + fmt.Sprintf(format, args...))
	}
	if len(p.Tools) == 0 {
		return nil, protocol.ErrInvalidConnect.With("Node mode requires tools")
	}
	if p.NodeRuntime == nil {
		return nil, invalid("nodeRuntime for %s is required", p.Client.ID)
	}
	names := make(map[string]bool)
	for _, t := range p.Tools {
		if !toolName.MatchString(t.Name) || len(protocol.NewToolName(protocol.NodeID(p.Client.ID), t.Name).ForModel()) > protocol.MaxModelTool {
			return nil, protocol.ErrInvalidConnect.With(fmt.Sprintf("Invalid tool name %.80q: model APIs accept letters, digits, _ and -, and %d characters for node and tool together",
				t.Name, protocol.MaxModelTool))
		}
		if names[t.Name] {
			return nil, invalid("duplicate tool name: %s", t.Name)
		}
		names[t.Name] = true
	}
	host, err := capabilities(p.NodeRuntime.HostCapabilities)
	if err != nil {
		return nil, invalid("hostCapabilities for %s: %v", p.Client.ID, err)
	}
	out := &protocol.NodeRuntime{HostCapabilities: host, ToolCapabilities: make(map[string][]string)}
	for tool := range p.NodeRuntime.ToolCapabilities {
		if !names[tool] {
			return nil, invalid("toolCapabilities for %s has unknown tool key: %s", p.Client.ID, tool)
		}
	}
	for _, t := range p.Tools {
		list, ok := p.NodeRuntime.ToolCapabilities[t.Name]
		if !ok {
			return nil, invalid("toolCapabilities for %s missing entry for tool: %s", p.Client.ID, t.Name)
		}
		caps, err := capabilities(list)
		if err != nil {
			return nil, invalid("toolCapabilities for %s, tool %s: %v", p.Client.ID, t.Name, err)
		}
		for _, c := range caps {
			if !slices.Contains(host, c) {
				return nil, invalid("toolCapabilities for %s, tool %s: %s missing from hostCapabilities", p.Client.ID, t.Name, c)
			}
		}
		out.ToolCapabilities[t.Name] = caps
	}
	return out, nil
}

func capabilities(list []string) ([]string, error) {
	var out []string
	for _, c := range list {
		c = strings.TrimSpace(c)
		if !slices.Contains(protocol.Capabilities, c) {
			return nil, fmt.Errorf("unknown capability %q", c)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("at least one capability is required")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
