package search

import (
	"context"
	_ "embed"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

const (
	maxMatches = 100 // as in GSV
	maxLine    = 200 // characters of a matching line
	// maxFiles is the maximum number of files that are listed when lines are not requested.
	maxFiles = 1000
	// maxContext is the maximum number of lines before and after a match.
	maxContext = 20
)

type grepIn struct {
	Pattern string `json:"pattern" jsonschema:"regular expression in the syntax of Rust's regex crate, matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file to search in; relative to the workspace; default the workspace"`
	Include string `json:"include,omitempty" jsonschema:"glob for file names, such as *.md or *.{go,mod}; compared with the name only, not the folder"`
	// The following fields are extensions.
	Output  string   `json:"output,omitempty" jsonschema:"lines (default), files for the paths only, or count for the paths with the number of lines that match"`
	Before  *float64 `json:"before,omitempty" jsonschema:"lines to show before each match, 0 to 20"`
	After   *float64 `json:"after,omitempty" jsonschema:"lines to show after each match, 0 to 20"`
	Context *float64 `json:"context,omitempty" jsonschema:"lines to show before and after each match, 0 to 20"`
	Hidden  *bool    `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot; default true"`
	Ignored *bool    `json:"ignored,omitempty" jsonschema:"false leaves out .git and names matched by .gitignore; default true"`
}

type grepMatch struct {
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Content string   `json:"content"`
	Before  []string `json:"before,omitempty"`
	After   []string `json:"after,omitempty"`
}

type grepFile struct {
	Path  string `json:"path"`
	Count int    `json:"count,omitempty"`
}

type grepOut struct {
	Pattern   string      `json:"pattern"`
	BasePath  string      `json:"basePath"`
	Matches   []grepMatch `json:"matches"`
	Files     []grepFile  `json:"files,omitempty"` // extension: instead of matches
	Count     *int        `json:"count,omitempty"` // of matches, or of files
	Truncated bool        `json:"truncated,omitempty"`
	// LeftOut lists locations of keys and tokens that were not searched (extension).
	LeftOut []string `json:"leftOut,omitempty"`
	// Note says why a single file was not searched (extension).
	Note string `json:"note,omitempty"`
}

//go:embed grep.md
var grepDoc string

// Grep makes the tool Grep.
func Grep(scope access.Scope) toolkit.Tool[access.Call] {
	caps := []string{protocol.CapRead, protocol.CapSearch}
	t := toolkit.Define("Grep", grepDoc, toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: caps},
		access.ForCalls(scope, runGrep))
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in grepIn) (protocol.CallPreview, error) {
		return scope.PreviewRead(in.Path)
	})
}

func (in grepIn) options() (w lineOptions, limit int, err error) {
	switch in.Output {
	case "", "lines":
		w, limit = lineOptions{matches: maxMatches}, maxMatches
	case "files":
		w, limit = lineOptions{matches: 1}, maxFiles
	case "count":
		w, limit = lineOptions{count: true}, maxFiles
	default:
		return w, 0, toolkit.Failf("Unknown output %q: use lines, files or count", in.Output)
	}
	both, err := toolkit.WholeNumber("context", in.Context, 0)
	if err != nil {
		return w, 0, err
	}
	before, err := toolkit.WholeNumber("before", in.Before, both)
	if err != nil {
		return w, 0, err
	}
	after, err := toolkit.WholeNumber("after", in.After, both)
	if err != nil {
		return w, 0, err
	}
	if limit == maxMatches {
		w.before, w.after = int(min(before, maxContext)), int(min(after, maxContext))
	}
	return w, limit, nil
}

func runGrep(ctx context.Context, ws *workspace.Root, call access.Call, in grepIn) (grepOut, error) {
	q, err := newLineQuery(in.Pattern, in.Include)
	if err != nil {
		return grepOut{}, err
	}
	options, limit, err := in.options()
	if err != nil {
		return grepOut{}, err
	}
	if q.base, err = ws.Resolve(in.Path); err != nil {
		return grepOut{}, err
	}
	q.lineOptions, q.lines, q.hidden, q.ignored = options, limit == maxMatches, in.Hidden, in.Ignored
	g, done, err := q.start(ctx, ws, call.Target)
	if err != nil {
		return grepOut{}, err
	}
	defer done()
	g.top.limit = limit
	note, err := g.run()
	if ctx.Err() != nil {
		return grepOut{}, errCancelled
	}
	if err != nil {
		return grepOut{}, err
	}
	out := g.out(in, limit) // a folder that cannot be opened has no matches
	out.Note = note
	return out, nil
}

func (g *grep) out(in grepIn, limit int) grepOut {
	out := grepOut{Pattern: in.Pattern, BasePath: g.base.String(), Matches: []grepMatch{}, LeftOut: g.exclusions.skippedPaths()}
	n := 0
	for _, r := range g.top.files {
		if g.lines {
			for _, m := range r.matches {
				m.Path = workspace.Spell(r.path)
				out.Matches = append(out.Matches, m)
			}
			n += len(r.matches)
			continue
		}
		f := grepFile{Path: workspace.Spell(r.path)}
		if g.count {
			f.Count = r.count
		}
		out.Files = append(out.Files, f)
		n++
	}
	// As in GSV, the hundredth match ends the search, so it is unknown whether there are more.
	if n >= limit {
		out.Matches, out.Truncated = out.Matches[:min(n, limit, len(out.Matches))], true
		return out
	}
	out.Count = &n
	return out
}
