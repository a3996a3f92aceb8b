package tools

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// summary summarizes an MCP server: how it calls itself, how it is reached and its tools.
func summary(v feed.View, s protocol.ServerStatus) string {
	if s.State == protocol.ServerFailed && s.Error != "" {
		return format.Capital(format.Line(s.Error, 160))
	}
	title := ""
	if s.Title != "" && !strings.EqualFold(s.Title, string(s.Name)) {
		title = s.Title
	}
	tools := ""
	if s.State == protocol.ServerReady || len(s.Tools) > 0 {
		tools = toolsText(s)
	}
	if place := serverPlace(v, s.Spec); title == "" && s.Spec.URL == "" {
		title = format.Capital(place)
	} else {
		title = wording.Join(" · ", title, place)
	}
	return wording.Join(" · ", title, tools)
}

// serverPlace says where a server is: its address, or the machine that runs it.
func serverPlace(v feed.View, spec protocol.ServerSpec) string {
	if spec.URL != "" {
		return question.HostOf(spec.URL)
	}
	return wording.Join(" · ", "runs on "+machineName(v, spec.Node), spec.NetworkText())
}

// machineName names the machine that runs a server's command; empty is the gateway's own.
func machineName(v feed.View, id protocol.NodeID) string {
	if id != "" {
		return v.Machines.Name(id)
	}
	if n, ok := v.Machines.Local(); ok {
		return n.DisplayName()
	}
	return "the gateway's machine"
}

func toolsText(s protocol.ServerStatus) string {
	off := len(lists.Without(s.Tools, func(t protocol.ServerTool) bool { return t.Enabled }))
	text := format.Plural(len(s.Tools), "tool")
	if off > 0 {
		text += fmt.Sprintf(", %d off", off)
	}
	return text
}

// changedTools returns the tools of a server that wait until the person accepts them: changed ones and
// new ones.
func changedTools(s protocol.ServerStatus) []protocol.ServerTool {
	return lists.Without(s.Tools, func(t protocol.ServerTool) bool { return !t.Changed })
}

// stateText describes a server's state in a few words. wants reports that the person has to do
// something.
func stateText(s protocol.ServerStatus) (text string, wants bool) {
	switch n := len(changedTools(s)); {
	case s.State == protocol.ServerReady && n > 0:
		return format.Plural(n, "tool") + " to accept", true
	case s.State == protocol.ServerFailed, s.State == protocol.ServerSignIn:
		return stateWord(s.State), true
	}
	return stateWord(s.State), false
}

func stateWord(state string) string {
	words := map[string]string{
		protocol.ServerReady: "ready", protocol.ServerStarting: "starting", protocol.ServerDisabled: "off", protocol.ServerOffline: "machine offline",
		protocol.ServerFailed: "failed", protocol.ServerSignIn: "needs sign-in",
	}
	return cmp.Or(words[state], state)
}

// explanation explains the state of a server that is not ready, and what happens next; empty if
// it is.
func explanation(v feed.View, s protocol.ServerStatus) (what, next string) {
	switch s.State {
	case protocol.ServerStarting:
		return "Connecting…", "The first start of a command can take a minute, while it downloads what it needs."
	case protocol.ServerFailed:
		return "The server stopped.", wording.Join(" ", endSentence(s.Error), "Fairlead tries again automatically.")
	case protocol.ServerSignIn:
		return "You have to sign in.", "The server asks who you are. Sign in with your browser, and then come back here."
	case protocol.ServerOffline:
		return machineName(v, s.Spec.Node) + " is offline.", "The server starts when its machine is back."
	case protocol.ServerDisabled:
		return "The server is off.", "Its settings are kept. The agent cannot use its tools."
	}
	return "", ""
}

// changeText says why the agent does not get a tool of [changedTools].
func changeText(t protocol.ServerTool) string {
	switch t.Before {
	case "":
		return "This tool is new or has changed. Accept it to let the agent use it."
	case t.Description:
		return "The inputs of this tool or its effect have changed. Accept the change to let the agent use it again."
	}
	return "The description of this tool has changed. Accept the change to let the agent use it again."
}

// endSentence turns a text into a sentence with a full stop.
func endSentence(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return strings.TrimRight(format.Capital(text), ".;,:") + "."
}

// effectText describes the effect of a server's tool as its server declares it.
func effectText(e protocol.Effect) string {
	words := map[protocol.Effect]string{
		protocol.EffectRead: "Says that it only reads", protocol.EffectWrite: "Changes something", protocol.EffectExec: "Runs programs", protocol.EffectNetwork: "Uses the network",
	}
	return cmp.Or(words[e], "May change something")
}

// factsOf lists the known facts about a server and its settings. Secrets are masked.
func factsOf(v feed.View, s protocol.ServerStatus, now time.Time) []wording.Fact {
	var list wording.Facts
	state := stateWord(s.State)
	if s.Since > 0 {
		state += " since " + format.When(s.Since, now)
	}
	list.Add("State", format.Capital(state))
	list.Add("Calls itself", wording.Join(" ", s.Title, s.Version))
	if s.Spec.URL != "" {
		list.Add("Address", s.Spec.URL)
		list.Add("Headers", settingLines(s.Spec.Headers, ": "))
	} else {
		list.Add("Runs on", machineName(v, s.Spec.Node))
		list.Add("Command", commandLine(s.Spec))
		list.Add("Network", networkChoices[networkIndex(s.Spec.Network)].Text)
		list.Add("Folder", s.Spec.Cwd)
		list.Add("Variables", settingLines(s.Spec.Env, "="))
	}
	if s.Resources+s.Prompts > 0 {
		list.Add("To attach", wording.Join(" and ", count(s.Resources, "resource", "resources"), count(s.Prompts, "prompt", "prompts"))+". Type @ in a chat.")
	}
	return list
}

func count(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return format.Plural(n, one, many)
}

// settingLines lists variables or headers by name, one a line, with their secret values masked.
func settingLines(values map[string]string, between string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if value == protocol.MaskedSecret {
			value = "••••••"
		}
		lines = append(lines, name+between+value)
	}
	return strings.Join(lines, "\n")
}

// commandLine joins the command and the arguments of a server, quoted where needed.
func commandLine(spec protocol.ServerSpec) string {
	return strings.Join(lists.Map(append([]string{spec.Command}, spec.Args...), quoteWord), " ")
}

func quoteWord(w string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:@=+,%~\\", r)
	}
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !isPlain(r) }) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// foundText returns the command or the address of a server that can be added, and more about it:
// what it is given, the only project that uses it, and whether it is turned off.
func foundText(f protocol.FoundServer) (text, more string) {
	text, with := commandLine(f.Spec), namesText("With the variable ", "With the variables ", f.Spec.Env)
	if f.Spec.URL != "" {
		text, with = f.Spec.URL, namesText("With the header ", "With the headers ", f.Spec.Headers)
	}
	project, off, network := "", "", format.Capital(f.Spec.NetworkText())
	if f.Project != "" {
		project = "Only in " + f.Project
	}
	if f.Spec.Disabled {
		off = "Turned off"
	}
	return text, wording.Join(" · ", with, network, project, off)
}

// namesText lists the names of variables or headers, whose values may be secret.
func namesText(one, many string, values map[string]string) string {
	names := slices.Sorted(maps.Keys(values))
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return one + names[0]
	default:
		return many + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
