package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

// installed returns the files and the folder that a JavaScript package manager writes.
func installed(sub string) (list []area) {
	switch sub {
	case "install", "ci", "add", "update", "uninstall", "remove", "up", "dedupe", "prune", "link", "rebuild", "install-test", "install-ci-test", "audit":
		for _, f := range []string{"node_modules", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"} {
			list = append(list, area{word: shell.Word{Text: f}, tools: writing, why: "may write", file: f != "node_modules", sure: true})
		}
	}
	return list
}

// goWrites returns the folders that go changes.
func goWrites(sub string, rest []shell.Word) (list []area) {
	switch {
	case sub == "fmt", sub == "fix":
		if len(rest) < 2 {
			rest = append(rest, here)
		}
		for _, w := range rest[1:] {
			list = append(list, area{word: part(w, strings.TrimSuffix(w.Text, "/...")), tools: writing, why: "may change", only: "*.go"})
		}
	case (sub == "mod" || sub == "work") && len(rest) > 1 && rest[1].Text == "vendor":
		list = append(list, area{word: shell.Word{Text: "vendor"}, tools: writing, why: "would write"})
	}
	return list
}

// cargoWrites returns the folders that cargo changes or creates.
func cargoWrites(sub string, rest []shell.Word) (list []area) {
	switch sub {
	case "fmt", "fix":
		list = append(list, area{word: here, tools: writing, why: "may change", only: "*.rs"})
	case "vendor":
		list = append(list, area{word: shell.Word{Text: "vendor"}, tools: writing, why: "would write"})
	case "new", "init":
		for _, w := range rest[1:] {
			list = append(list, area{word: w, tools: writing, why: "may write"})
		}
	}
	return list
}

// terraformWrites returns the folders that terraform works in or changes.
func terraformWrites(sub string, words []shell.Word) (list []area) {
	for _, w := range words {
		if v, ok := strings.CutPrefix(strings.TrimPrefix(w.Text, "-"), "-chdir="); ok {
			list = append(list, area{word: part(w, v), tools: writing, why: "may write"})
		}
	}
	if sub == "fmt" && !givenWord(words, []string{"-check", "-write=false"}) {
		list = append(list, area{word: here, tools: writing, why: "may change", only: "*.tf*"})
	}
	return list
}
