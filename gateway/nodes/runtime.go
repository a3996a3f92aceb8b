package nodes

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"fairlead/gateway/protocol"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkRuntime validates the nodeRuntime of a connect request and returns it with its lists sorted
// and without duplicates. The error messages are those of the original system.
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
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("at least one capability is required")
	}
	sort.Strings(out)
	return out, nil
}
