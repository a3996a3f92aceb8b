package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// accessChecks are the conditions of the table that need more than a list of options.
var accessChecks = map[string]func(words []shell.Word) bool{
	"recursive": recursive,
	"dynamic":   hasDynamic,
	"forced": func(words []shell.Word) bool { // git push origin +main or :main
		return slices.ContainsFunc(words, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":") })
	},
	"reads": func(words []shell.Word) bool { // of find: it starts only programs that read
		for i := 1; i < len(words); i++ {
			if execOptions[words[i-1].Text] && !readers[baseName(words[i].Text)] {
				return false
			}
		}
		return true
	},
	// git prints the contents of files, not only names and numbers
	"patch":   printsPatch,
	"summary": func(words []shell.Word) bool { return slices.ContainsFunc(words, isSummary) && !printsPatch(words) },
	"blobs": func(words []shell.Word) bool { // git show HEAD:FILE, which is checked by its name
		list := operands(words, "")
		return len(list) > 0 && !slices.ContainsFunc(list, func(w shell.Word) bool { return w.Dynamic || !strings.Contains(w.Text, ":") })
	},
	"revision": func(words []shell.Word) bool { // of git grep, which then searches an earlier state of all files
		return slices.ContainsFunc(operands(words, "efABCmO"), func(w shell.Word) bool { return revision.MatchString(w.Text) })
	},
	"imports": func(words []shell.Word) bool { // of jq
		return slices.ContainsFunc(words, func(w shell.Word) bool { return importWord.MatchString(w.Text) || strings.HasPrefix(w.Text, "-L") })
	},
	"loads": func(words []shell.Word) bool { // of yq
		return slices.ContainsFunc(words, func(w shell.Word) bool { return strings.Contains(w.Text, "load") })
	},
	"numbered": func(words []shell.Word) bool { // curl -o file#1
		hasNumber := func(w shell.Word) bool { return strings.Contains(w.Text, "#") }
		return slices.ContainsFunc(values(words, "-o,--output"), hasNumber)
	},
}

// revision matches words that name a commit, unlike most names of files.
var revision = regexp.MustCompile(`^(.*HEAD|@|stash|main|master|trunk|develop|(origin|upstream|refs)/.*|v?\d+(\.\d+)+.*|[0-9a-f]{7,40})$|[~^]|@\{|^[^/]+:`)

// importWord matches a text of jq that loads a file.
var importWord = regexp.MustCompile(`\b(import|include)\b`)

// patchOption and summaryOption match options of git with which it prints contents of files, and
// with which it prints only names and numbers.
var (
	patchOption   = regexp.MustCompile(`^(-[a-zA-Z]*[pucWLU].*|--patch.*|--cc|--unified.*|--function-context|--binary|--(word-diff|color-words).*|--output-indicator.*|--remerge-diff)$`)
	summaryOption = regexp.MustCompile(`^(--(stat|name-only|name-status|numstat|shortstat|dirstat|summary|raw|quiet|no-patch|check|compact-summary)(=.*)?|-s|-q)$`)
)

func isSummary(w shell.Word) bool { return summaryOption.MatchString(w.Text) }

func printsPatch(words []shell.Word) bool {
	if i := doubleDash(words); i >= 0 {
		words = words[:i]
	}
	return slices.ContainsFunc(words, func(w shell.Word) bool { return w.Dynamic && !w.Glob || patchOption.MatchString(w.Text) })
}
