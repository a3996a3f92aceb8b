package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"

	"mvdan.cc/sh/v3/syntax"
)

// maxBound is the number of files that one command is bound to.
const maxBound = 64

// binding returns a checksum of a command's folder and of the files that it starts by their path,
// so that an answer holds only while they are the ones that the person was asked about.
func binding(shell, command, dir string) string {
	sum := sha256.New()
	fmt.Fprintln(sum, workspace.RealPath(dir), fileIdentity(dir))
	if isBourne(shell) {
		for _, file := range startedFiles(command, dir) {
			if id := fileIdentity(file); id != "" {
				fmt.Fprintln(sum, file, id, contentIdentity(file))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// scriptRunners are programs that run the file in their first argument.
var scriptRunners = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "perl", "ruby", "php", "deno", "bun", "tsx", "source", ".", "env", "sudo", "nohup", "exec", "time"}

// startedFiles returns the paths that a command may start: programs that it names by a path, and
// scripts. A path may be relative to the folder of the command or to one that it changes to.
func startedFiles(command, dir string) (list []string) {
	file, err := parseCommand(command)
	if err != nil {
		return nil
	}
	folders := []string{dir}
	add := func(name string) {
		for _, folder := range folders {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			if len(list) < maxBound && !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name := literalText(call.Args[0])
		if strings.ContainsAny(name, `/\`) {
			add(name)
		}
		for _, w := range call.Args[1:] {
			switch argument := literalText(w); {
			case argument == "" || argument[0] == '-':
				continue
			case name == "cd" && filepath.IsAbs(argument):
				folders = append(folders, argument)
			case name == "cd":
				folders = append(folders, filepath.Join(dir, argument))
			case slices.Contains(scriptRunners, filepath.Base(name)):
				add(argument)
			}
			break
		}
		return true
	})
	return list
}
