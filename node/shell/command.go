package shell

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// previewBash describes a command that a shell runs.
func previewBash(ctx context.Context, ws *workspace.Root, jobs *Jobs, in bashIn, shell string) protocol.CallPreview {
	plan, err := planBash(ws, in)
	preview := protocol.CallPreview{Folder: workspace.Spell(plan.dir), Shell: shell, Network: in.Network}
	if err == nil {
		err = jobs.confinement.checkNetwork(in, shell, true) // everything else needs the person's approval
	}
	if err != nil {
		preview.Problem = err.Error()
	}
	if plan.dir != "" {
		real := plan.dir
		if r, err := filepath.EvalSymlinks(real); err == nil {
			real = r
		}
		p, _ := ws.At(real)
		preview.Outside = p.Outside
		preview.FileSHA256 = binding(ws, shell, in.Command, plan.dir)
	}
	if isBourne(preview.Shell) {
		preview.Folders = jobs.confinement.neededFolders(ws, in.Command, plan.dir)
		preview.Programs = programs(in.Command, plan.dir)
		for _, path := range jobs.launcher.startupChanges(ctx, in.Command, plan.dir) {
			preview.Changes = append(preview.Changes, workspace.Spell(path))
		}
		preview.PatchesRead = patchesAreRead(in.Command, plan.dir)
	}
	return preview
}

const maxPrograms = 32

// programs lists the programs that a command names, in order. The list helps the reader and is not
// complete: it lacks names that the shell computes while it runs.
func programs(command, dir string) (list []protocol.Program) {
	for _, c := range bourne.Analyze(command, bourne.Bash).Commands {
		name := c.Words[0].Value()
		isListed := slices.ContainsFunc(list, func(p protocol.Program) bool { return p.Name == name })
		if name != "" && !isListed && !c.Guess && c.Parent < 0 && len(list) < maxPrograms {
			list = append(list, protocol.Program{Name: name, Path: lookPath(name, dir)})
		}
	}
	return list
}

func lookPath(name, dir string) string {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// checkNetwork checks whether a command may use the network it requests; granted says that the
// person allowed it for this call. Where the system cannot block the network, a command that
// appears to use it without requesting it is refused.
func (c *confinement) checkNetwork(in bashIn, shell string, granted bool) error {
	switch {
	case !c.isEnforced() || c.profile.Network == sandbox.NetAllowed:
		return nil
	case !in.Network && c.box.Report().BlocksNetwork():
		return nil
	case !in.Network:
		return checkNetworkWords(shell, in.Command)
	case !c.askNetwork:
		return toolkit.Failf("The network is blocked for commands on this machine. The person can start its node with --network ask or --network allowed.")
	case !granted:
		return toolkit.Failf("The network was not allowed for this command.")
	}
	return nil
}

// checkNetworkWords looks for use of the network in the words of a command line, one command after
// the other. It is the only check where the system cannot keep commands off the network; see
// [checkTokens].
func checkNetworkWords(shell, command string) error {
	for _, words := range commandWords(shell, command) {
		if err := checkTokens(words); err != nil {
			return err
		}
	}
	return nil
}

// commandWords returns the words of each command of a line, and the words beside commands. Words
// that contain commands, as of sh -c, are split too. A line that cannot be parsed counts as one
// command.
func commandWords(shell, command string) (all [][]string) {
	if !isBourne(shell) {
		return [][]string{tokens(command)}
	}
	facts := bourne.Analyze(command, bourne.Bash)
	if facts.Invalid {
		return [][]string{tokens(command)}
	}
	for _, c := range facts.Commands {
		if c.Guess {
			continue
		}
		var words []string
		for _, w := range c.Words {
			words = append(words, tokens(w.Text)...)
		}
		all = append(all, words)
	}
	for _, a := range facts.Assigns {
		all = append(all, tokens(a.Value.Text))
	}
	for _, r := range facts.Redirects {
		all = append(all, tokens(r.Path.Text))
	}
	for _, w := range facts.Texts {
		all = append(all, tokens(w.Text))
	}
	return all
}

// tokens splits a text at everything that ends a word in any shell.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&()<>{}$,=^", r) })
}

// networkPrograms lists programs that are known to use the network, as in GSV.
var networkPrograms = map[string]bool{"curl": true, "wget": true, "npm": true, "bun": true, "pip": true}

var gitRemoteCommands = map[string]bool{"push": true, "pull": true, "fetch": true, "clone": true, "remote": true}

// networkWord is the error of checkTokens.
type networkWord struct{ Word, Why string }

func (e *networkWord) Error() string {
	return fmt.Sprintf("the network is blocked for commands: %q %s. Request the network, or do without it.", e.Word, e.Why)
}

// checkTokens returns an error if the words of a command suggest that it uses the network: the base
// name of a known program, an HTTP or HTTPS address, or git with a remote operation. The words may
// be those of one command or of a whole line; they must be decoded. Like GSV, Fairlead uses this
// check where the operating system cannot block the network. It is a warning sign, not containment:
// a script can easily evade it.
func checkTokens(words []string) error {
	git := false
	for _, w := range words {
		switch base := basename(w); {
		case networkPrograms[base]:
			return &networkWord{w, "is a program that uses the network"}
		case hasPrefixFold(w, "http://"), hasPrefixFold(w, "https://"):
			return &networkWord{w, "is a network address"}
		case git && gitRemoteCommands[w]:
			return &networkWord{"git " + w, "contacts another machine"}
		case base == "git":
			git = true
		}
	}
	return nil
}

// basename returns the program's name without folder and without extensions of Windows.
func basename(word string) string {
	word = strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		word = strings.TrimSuffix(word, ext)
	}
	return word
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
