package shell

import (
	"os/exec"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

func previewBash(ws *workspace.Root, jobs *Jobs, in bashIn) protocol.CallPreview {
	plan, err := planBash(ws, in)
	preview := protocol.CallPreview{Folder: workspace.Spell(plan.dir), Shell: Path(), Network: in.Network}
	if err == nil {
		err = jobs.checkNetwork(in, true) // everything else needs the person's approval
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
	}
	if isBourne(preview.Shell) {
		preview.Folders = jobs.neededFolders(ws, in.Command, plan.dir)
		preview.Programs = programs(in.Command, plan.dir)
	}
	return preview
}

// maxPrograms is the maximum number of programs that a preview names.
const maxPrograms = 32

// programs lists the programs that a command names, in order. The list helps the reader and is not
// complete: it lacks names that the shell computes while it runs.
func programs(command, dir string) (list []protocol.Program) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name := literalText(call.Args[0])
		if name == "" || seen[name] || len(list) == maxPrograms {
			return true
		}
		seen[name] = true
		list = append(list, protocol.Program{Name: name, Path: lookPath(name, dir)})
		return true
	})
	return list
}

// literalText returns a word's text if it is constant, else "".
func literalText(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
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
