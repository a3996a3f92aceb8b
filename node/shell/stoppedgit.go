package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/gateway/peer/words"
)

// worksOnTree matches the commands of Git that replace many files of the work tree, one after the
// other. Those that a question could name are known before; see [launcher.startupChanges].
var worksOnTree = regexp.MustCompile(`\bgit\b.*\b(am|apply|bisect|checkout|cherry-pick|merge|pull|rebase|reset|restore|revert|stash|switch|submodule)\b`)

// maxUndone is the number of files that the description of a work tree names.
const maxUndone = 20

const unknownTree = "Git may have changed a part of the files before that: look at git status, and undo that part (git restore, or the command's --abort) before you repeat the command."

// unfinished are the files in a repository that an interrupted command of Git leaves, and what undoes
// it.
var unfinished = [][2]string{
	{"rebase-apply/applying", "git am --abort"},
	{"rebase-apply", "git rebase --abort"},
	{"rebase-merge", "git rebase --abort"},
	{"MERGE_HEAD", "git merge --abort"},
	{"CHERRY_PICK_HEAD", "git cherry-pick --abort"},
	{"REVERT_HEAD", "git revert --abort"},
}

// stoppedGit describes the work tree of which a command of Git has changed a part before it was
// refused a file, and how to go on; empty for another command.
func (l *launcher) stoppedGit(ctx context.Context, command, dir string) string {
	if !worksOnTree.MatchString(command) {
		return ""
	}
	for _, c := range bourne.Analyze(command, bourne.Bash).Commands {
		at, words := follow(c.Folder, dir).real, paths(c.Words)
		if c.Guess || c.Parent >= 0 || at == "" || words[0] != "git" || slices.Contains(words, "") {
			continue
		}
		in, args := gitFolder(at, words[0], words[1:])
		if queries := gitQueries(args); len(queries) > 0 && refusesEdits(args) {
			if text := l.describeTree(ctx, in, queries); text != "" {
				return text
			}
		}
	}
	return unknownTree
}

// refusesEdits recognizes commands that refuse to start if they would replace an uncommitted edit, so
// that no replaced file has one.
func refusesEdits(args []string) bool {
	switch args[0] {
	case "pull", "merge", "checkout", "switch", "rebase", "cherry-pick", "revert", "am":
		return !slices.Contains(args, "--") && !slices.ContainsFunc(args, func(a string) bool {
			return a == "-f" || a == "--force" || a == "--autostash" || a == "-m" && args[0] != "merge"
		})
	case "stash":
		return len(args) > 1 && (args[1] == "pop" || args[1] == "apply")
	}
	return false
}

// describeTree is empty if nothing is known. The queries list what the command was to replace: the
// part of it that differs from HEAD now is what it did.
func (l *launcher) describeTree(ctx context.Context, dir string, queries [][]string) string {
	state := strings.Split(strings.TrimSpace(l.output(ctx, dir, "git rev-parse --show-toplevel --short HEAD --absolute-git-dir")), "\n")
	if len(state) != 3 {
		return ""
	}
	top, head, gitDir := state[0], state[1], state[2]
	for _, u := range unfinished {
		if _, err := os.Lstat(filepath.Join(gitDir, filepath.FromSlash(u[0]))); err == nil {
			return fmt.Sprintf("Git stopped half-way. “%s” brings back the files as they were; then ask for the protected ones and repeat the command.", u[1])
		}
	}
	_, names := l.listed(ctx, dir, queries)
	var changed, added []string
	for entry := range strings.SplitSeq(l.output(ctx, top, "git status --porcelain --no-renames --untracked-files=all -z"), "\x00") {
		if len(entry) < 4 || !slices.Contains(names, entry[3:]) {
			continue
		}
		if strings.HasPrefix(entry, "??") || strings.HasPrefix(entry, "A") {
			added = append(added, entry[3:])
		} else {
			changed = append(changed, entry[3:])
		}
	}
	switch n := len(changed) + len(added); {
	case len(names) == 0:
		return ""
	case n == 0:
		return fmt.Sprintf("Git changed no file before that, and HEAD is %s. Ask for the protected ones and repeat the command.", head)
	case n > maxUndone:
		return fmt.Sprintf("Git stopped half-way: HEAD is %s, and %d files are of another version. Bring them back with git restore and git clean, then ask for the protected ones and repeat the command.", head, n)
	}
	return fmt.Sprintf("Git stopped half-way: HEAD is %s, and these files are of another version: %s. “%s” in %s brings them back; then ask for the protected ones and repeat the command.",
		head, strings.Join(slices.Concat(changed, added), ", "), undo(changed, added), top)
}

// undo returns the commands that bring files back to HEAD, and remove those that it does not have.
func undo(changed, added []string) string {
	var all []string
	if len(changed) > 0 {
		all = append(all, "git restore --source=HEAD --staged --worktree -- "+words.Join(changed))
	}
	if len(added) > 0 {
		all = append(all, "git rm -q --cached --ignore-unmatch -- "+words.Join(added)+"; rm -- "+words.Join(added))
	}
	return strings.Join(all, "; ")
}
