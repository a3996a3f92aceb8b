package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

// searched returns the folders in which a program searches for a text.
func searched(name string, words []shell.Word) (list []area) {
	deep, dots := name == "rgrep", true
	switch name {
	case "rg", "ag", "ack":
		deep, dots = true, false
		for _, w := range words {
			t := w.Text
			dots = dots || strings.HasPrefix(t, "--hid") || strings.HasPrefix(t, "--unr") || strings.HasPrefix(t, "--all") || strings.HasPrefix(t, "--no-ig") ||
				isFlag(t) && t[1] != '-' && strings.ContainsAny(t, "u.at")
			if t == "--files" || t == "--type-list" { // names only
				return nil
			}
		}
	default:
		deep = deep || given(glob{parts: []string{"-r"}}, words)
		for _, w := range words {
			deep = deep || strings.HasPrefix(w.Text, "--dir") || strings.HasPrefix(w.Text, "-d")
		}
	}
	if !deep {
		return nil
	}
	values := "efmABCdD"
	switch name {
	case "rg":
		values = "efgtTABCmMjrEd"
	case "ag", "ack":
		values = "ABCGmp"
	case "diff":
		values = "xXSIFUCWLD"
	}
	rest := operands(words, values)
	if name != "diff" && len(rest) > 0 && !hasOption(words, 'e', "--regexp") && !hasOption(words, 'f', "--file") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		rest = []shell.Word{{Text: "."}}
	}
	for _, w := range rest {
		if !w.Dynamic && maybeFolder(w.Text) {
			list = append(list, area{word: w, tools: reading, why: "would search", dotless: !dots})
		}
	}
	return list
}

// found returns the folders whose files find passes to a program or deletes.
func found(words []shell.Word) (list []area) {
	acts, only, tools := "", "", reading
	for i, w := range words {
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			acts = "would hand over"
			if i+1 >= len(words) || !readers[base(words[i+1].Text)] {
				tools = anyAccess
			}
		case "-delete":
			acts, tools = "would remove", anyAccess
		case "-name", "-iname":
			if i+1 < len(words) && words[i+1].Plain() && only == "" {
				only = strings.ToLower(words[i+1].Text)
			}
		case "-o", "-or", ",", "!", "-not":
			only = "*"
		}
	}
	if acts == "" {
		return nil
	}
	for _, w := range words {
		if isFlag(w.Text) || w.Text == "(" || w.Text == "!" {
			if len(list) > 0 || w.Text != "-H" && w.Text != "-L" && w.Text != "-P" {
				break
			}
			continue
		}
		if !w.Dynamic {
			list = append(list, area{word: w, tools: tools, why: acts, only: only})
		}
	}
	if len(list) == 0 {
		list = []area{{word: shell.Word{Text: "."}, tools: tools, why: acts, only: only}}
	}
	return list
}

func hasLong(words []shell.Word, long string) bool {
	for _, w := range words {
		if w.Text == long {
			return true
		}
	}
	return false
}

// sent returns the local folders that a program copies to or from a container or a remote store:
// paths with a colon or a scheme are remote.
func sent(name string, words []shell.Word) (list []area) {
	rest := operands(words, "n")
	for i, w := range rest {
		switch w.Text {
		case "cp", "rsync":
		case "sync", "mv", "put", "get":
			if name == "kubectl" || name == "oc" {
				continue
			}
		default:
			continue
		}
		here := rest[i+1:]
		for k, w := range here {
			if w.Dynamic || strings.Contains(w.Text, ":") || !maybeFolder(w.Text) {
				continue
			}
			a := area{word: w, tools: reading, why: "would copy"}
			if k == len(here)-1 {
				a.tools, a.why = writing, "may write"
			}
			list = append(list, a)
		}
		return list
	}
	return nil
}
