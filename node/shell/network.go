package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/sandbox"
)

// checkNetwork checks whether a command may use the network it requests; granted says that the
// person allowed it for this call. Where the system cannot block the network, a command that
// appears to use it without requesting it is refused.
func (t *Jobs) checkNetwork(in bashIn, granted bool) error {
	switch {
	case t.opts.Box == nil || t.opts.Profile.Mode == sandbox.Full || t.opts.Profile.Network == sandbox.NetAllowed:
		return nil
	case !in.Network && t.opts.Box.Report().BlocksNetwork():
		return nil
	case !in.Network:
		return checkNetworkWords(Path(), in.Command)
	case !t.opts.AskNetwork:
		return toolkit.Failf("The network is blocked for commands on this machine. The person can start its node with --network ask or --network allowed.")
	case !granted:
		return toolkit.Failf("The network was not allowed for this command.")
	}
	return nil
}

// checkNetworkWords looks for use of the network in the words of a command line, one command after
// the other. It is the only check where the system cannot keep commands off the network; see
// [sandbox.CheckTokens].
func checkNetworkWords(shell, command string) error {
	for _, words := range commandWords(shell, command) {
		if err := sandbox.CheckTokens(words); err != nil {
			return err
		}
	}
	return nil
}

// commandWords returns the words of each command of a line, and the words beside commands. Words
// that contain commands, as of sh -c, are parsed too. A line that cannot be parsed counts as one
// command.
func commandWords(shell, command string) (all [][]string) {
	if !isBourne(shell) {
		return [][]string{tokens(command)}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return [][]string{tokens(command)}
	}
	arguments := make(map[*syntax.Word]bool)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			var words []string
			for _, a := range n.Args {
				arguments[a] = true
				words = append(words, wordTokens(command, a)...)
			}
			all = append(all, words)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				arguments[n.Hdoc] = true // text, not words
			}
		// This is the value of a variable, the list of a loop or the target of a redirection.
		case *syntax.Word:
			if !arguments[n] {
				all = append(all, wordTokens(command, n))
			}
		}
		return true
	})
	return all
}

// wordTokens parses one word of a command.
func wordTokens(command string, w *syntax.Word) []string {
	text := literalText(w)
	if text == "" { // partly computed at run time: the literal parts count
		from, to := w.Pos().Offset(), w.End().Offset()
		text = command[min(int(from), len(command)):min(int(to), len(command))]
	}
	return tokens(text)
}

// tokens splits a text at everything that ends a word in any shell.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&()<>{}$,=^", r) })
}
