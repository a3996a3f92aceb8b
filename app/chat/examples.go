package chat

import (
	"slices"
	"strings"
	"unicode"

	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// example is a request that an empty chat offers. The label is its short form for people.
type example struct{ icon, label, request string }

// maxExamples is the number of examples. It is smaller only if the machines have too few tools.
const maxExamples = 4

// examplesFor returns requests that the online machines can carry out: two for the current machine,
// one for each of two others, and then more of both. The built-in operator understands all of them,
// so they also work without a model.
func examplesFor(machines []protocol.NodeInfo, current protocol.NodeID) []example {
	var own, first, more []example
	for _, n := range machines {
		if !n.Online {
			continue
		}
		list := examplesOf(n, n.ID != current)
		switch {
		case n.ID == current:
			own = list
		case len(first) < 2 && len(list) > 0:
			i := min(len(first), len(list)-1) // another request for the second machine
			first = append(first, list[i])
			more = append(more, slices.Delete(list, i, i+1)...)
		default:
			more = append(more, list...)
		}
	}
	two := min(len(own), 2)
	all := slices.Concat(own[:two], first, own[two:], more)
	return all[:min(len(all), maxExamples)]
}

// examplesOf returns the requests that one machine can carry out. Those for another machine than the
// current one name it instead of its folder, and begin with commands.
func examplesOf(n protocol.NodeInfo, other bool) []example {
	var files, commands []example
	add := func(list *[]example, tool, icon, label, request string) {
		if !slices.Contains(n.Tools, tool) || slices.Contains(n.Held, tool) {
			return
		}
		if other {
			label += " on " + wording.ShortenMiddle(n.DisplayName(), 16)
			request += " on " + string(n.ID.ToolPrefix())
		}
		*list = append(*list, example{icon, label, request})
	}
	if label, folder := workspaceOf(n); folder == "" || other {
		add(&files, "Glob", "folder", "List the files", "List the files")
	} else {
		add(&files, "Glob", "folder", "List the folder "+label, "List the folder "+folder)
	}
	add(&files, "Grep", "search", "Search for TODO", "Search for TODO")
	for _, kind := range []string{"Markdown", "image", "log"} {
		text := "List the " + kind + " files"
		add(&files, "Glob", "list", text, text)
	}
	lines := []string{"df -h", "uptime", "ls -la", "date"}
	if strings.HasPrefix(n.Platform, "windows") {
		lines = []string{"systeminfo", "tasklist", "dir", "ver"}
	}
	for _, line := range lines {
		add(&commands, "Bash", "terminal", "Run "+line, "Run "+line)
	}
	if other {
		return append(commands, files...)
	}
	return slices.Concat(files[:min(len(files), 3)], commands, files[min(len(files), 3):])
}

// workspaceOf returns a machine's workspace, short for a label and quoted for a request. Both are
// empty if it is unknown or a request cannot contain it.
func workspaceOf(n protocol.NodeInfo) (label, quoted string) {
	if n.Host == nil || n.Host.Workspace == "" || strings.ContainsAny(n.Host.Workspace, "\"`") || strings.ContainsFunc(n.Host.Workspace, unicode.IsControl) {
		return "", ""
	}
	path := n.Host.Workspace
	label = path
	if below, ok := strings.CutPrefix(path, n.Host.Home); ok && n.Host.Home != "" && (below == "" || strings.ContainsRune(`/\`, rune(below[0]))) {
		label = "~" + below
	}
	quoted = path
	isPlain := func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune(`/\`, r) }
	if strings.ContainsFunc(path, func(r rune) bool { return !isPlain(r) && !strings.ContainsRune("._-:", r) }) || strings.TrimRightFunc(path, isPlain) == path {
		quoted = `"` + path + `"` // a space, or punctuation at the end, would not belong to the path
	}
	return wording.ShortenMiddle(wording.VisibleName(label), 24), quoted
}
