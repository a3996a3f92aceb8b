package tools

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"fairlead/node/sandbox"
)

// checkWords looks for the network in what a command says, one command of a line after the other (seed 001, Network Blocking). It is all there is
// where the system cannot keep commands off the network.
func checkWords(shell, command string) error {
	for _, words := range commandWords(shell, command) {
		if err := sandbox.CheckTokens(words); err != nil {
			return err
		}
	}
	return nil
}

// commandWords are the words of each command of a line. Words that hold words, as of sh -c, are taken apart too. A line that cannot be parsed is
// one command.
func commandWords(shell, command string) (all [][]string) {
	if !bourne(shell) {
		return [][]string{split(command)}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return [][]string{split(command)}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, a := range call.Args {
			text := plain(a)
			if text == "" { // partly made up as it runs: what is written counts
				from, to := a.Pos().Offset(), a.End().Offset()
				text = command[min(int(from), len(command)):min(int(to), len(command))]
			}
			words = append(words, split(text)...)
		}
		all = append(all, words)
		return true
	})
	return all
}

// split takes a text apart at everything that ends a word in any shell.
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&()<>{}$,=^", r) })
}
