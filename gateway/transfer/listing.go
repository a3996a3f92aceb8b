package transfer

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// A node that knows only the basic protocol always overwrites, and cannot list a folder for a
// transfer. The gateway calls its tool Glob instead.

const (
	// globLimit is the time limit for one call of Glob.
	globLimit = time.Minute
	// maxNumbered is the largest number to try in a file name.
	maxNumbered = 100
)

// hasGlob reports whether a node is online and has the tool Glob available.
func (s *basicTransfer) hasGlob(id protocol.NodeID) bool {
	_, _, err := s.mover.services.machines.Lookup(protocol.NewToolName(id, "Glob"))
	return err == nil
}

// glob returns the paths on a node that match a pattern. It is a step of the transfer, which was
// allowed as a read of the whole folder.
func (s *basicTransfer) glob(ctx context.Context, id protocol.NodeID, pattern string) ([]string, error) {
	args, err := protocol.Marshal(map[string]string{"pattern": pattern})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, globLimit, final("%s did not list its files within %s. Try again", id, format.Duration(globLimit)))
	defer cancel()
	raw, err := s.mover.services.judge.authorizer.Continue(ctx, tool.Step{Call: s.mover.live.allowedBy(), Principal: principalOf(s.t), Node: id, Tool: "Glob", Args: args})
	var out struct {
		Matches   []string `json:"matches"`
		Truncated bool     `json:"truncated"`
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case protocol.ErrUnavailable.Is(err):
		return nil, disconnectedError(id)
	case err == nil:
		err = json.Unmarshal(raw, &out)
	}
	switch {
	case err != nil:
		return nil, final("%s could not list its files, so nothing was sent: %v", id, err)
	case out.Matches == nil:
		return nil, final("%s did not list its files, so nothing was sent", id)
	case out.Truncated || len(out.Matches) > 2*stream.MaxListed:
		return nil, final("%s lists more than %d files: pack them into one file, or send parts of the folder", id, stream.MaxListed)
	}
	return out.Matches, nil
}

// literal escapes a path for use as a pattern.
var literal = strings.NewReplacer("?", "[?]", "*", "[*]", "[", "[[]", "]", "[]]")

// refusal returns an error, before anything is sent, if the transfer could lose data.
func (s *basicTransfer) refusal() error {
	switch {
	case s.dst.isFairlead:
	case s.t.Conflict != protocol.ConflictOverwrite && !s.hasGlob(s.dst.name):
		return final("%s always overwrites, and cannot report whether a file already exists. Nothing was sent. To replace files there, use the conflict setting “overwrite”", s.dst.name)
	case s.t.Conflict == protocol.ConflictOverwrite && s.src.link == s.dst.link:
		for _, source := range s.t.Sources {
			f := file{source: source, from: pathOf(source)}
			if mayBeOne(f.from, joinPath(pathOf(s.t.Destination), s.pathBelow(f))) {
				return protocol.ErrBadRequest.With("Source and destination may be the same file, which would be lost. Give both paths in full")
			}
		}
	}
	return nil
}

// mayBeOne reports whether two paths on one machine may name the same file: they differ only in
// case, or one of them is relative. It cannot detect links.
func mayBeOne(a, b string) bool {
	clean := func(p string) string {
		return strings.TrimPrefix(path.Clean(strings.ToLower(strings.ReplaceAll(p, `\`, "/"))), "./")
	}
	a, b = clean(a), clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// target returns the path to write to at a destination that knows only the basic protocol: to if no
// file has that name, otherwise a numbered name, or "" if the existing file must stay. A file that
// another program creates between this check and the transfer is overwritten; the protocol cannot
// prevent that.
func (s *basicTransfer) target(ctx context.Context, to string) (string, error) {
	conflict := s.t.Conflict
	if conflict == protocol.ConflictOverwrite && s.written[strings.ToLower(to)] {
		conflict = protocol.ConflictRename // written by another file of this transfer
	}
	name := to
	for n := 2; conflict != protocol.ConflictOverwrite; n++ {
		found, err := s.glob(ctx, s.dst.name, literal.Replace(name))
		switch {
		case err != nil:
			return "", err
		case len(found) == 0 && !s.written[strings.ToLower(name)]:
			conflict = protocol.ConflictOverwrite
			continue
		case conflict == protocol.ConflictSkip:
			return "", nil
		case n > maxNumbered:
			return "", final("%s:%s and %d numbered names beside it already exist. Choose another name", s.dst.name, to, maxNumbered)
		}
		dir, base := splitPath(to)
		name = dir + stream.NumberedName(base, n)
	}
	s.written[strings.ToLower(name)] = true
	return name, nil
}

// list returns the files of all sources. left counts those that cannot be sent.
func (s *basicTransfer) list(ctx context.Context) (files []file, left outcome, err error) {
	for _, source := range s.t.Sources {
		whole := file{source: source, from: pathOf(source)}
		var meta protocol.TransferMetaParams
		switch {
		case s.src.isFairlead:
			meta, err = s.listOurs(ctx, whole)
		case s.hasGlob(s.src.name):
			meta, err = s.listBasic(ctx, whole)
		}
		if err != nil {
			return nil, left, err
		}
		if !meta.Folder {
			if meta.Size != nil {
				whole.size = *meta.Size
			}
			files = append(files, whole)
			continue
		}
		of := func(name string) string { return s.place(file{source: source, name: name}) }
		one := outcome{done: protocol.TransferDoneParams{Failed: meta.Failed}}
		for _, p := range meta.Problems {
			one.done.Problems = append(one.done.Problems, protocol.TransferProblem{Path: of(p.Path), Text: p.Text})
		}
		left.add(one)
		for _, e := range meta.Entries {
			if err := stream.CheckName("", e.Name); err != nil {
				left.add(outcome{done: protocol.TransferDoneParams{Failed: 1, Problems: []protocol.TransferProblem{{Path: of(path.Clean("/" + e.Name)), Text: err.Error()}}}})
				continue
			}
			f := file{source: source, from: whole.from, name: e.Name, size: max(e.Size, 0)}
			if !s.src.isFairlead {
				f.from = joinPath(whole.from, e.Name)
			}
			files = append(files, f)
		}
	}
	if len(files) > stream.MaxListed {
		return nil, left, final("There are more than %d files to send: pack them into one file, or send them in parts", stream.MaxListed)
	}
	return files, left, nil
}

// listOurs asks a source that supports streams for a folder's files.
func (s *basicTransfer) listOurs(ctx context.Context, f file) (meta protocol.TransferMetaParams, err error) {
	a := newAttempt(s.mover, s.src, s.dst)
	_, err = a.exchange(ctx, func(ctx context.Context, _ *crash.Group) (outcome, error) {
		if meta, err = a.askSource(ctx, protocol.TransferSend{Path: f.from, List: true, Links: s.t.Links}); err != nil {
			return outcome{}, err
		}
		// The source of a single file waits for transfer.start, like a source that does not know
		// lists.
		return outcome{}, s.src.link.SendEvent(ctx, protocol.EventTransferStop, protocol.TransferStop{TransferID: a.relay.src.id, Keep: true, Reason: "Listed"})
	})
	return meta, err
}

// listBasic calls the tool Glob of a source that knows only the basic protocol. A pattern that ends
// with a slash matches folders.
func (s *basicTransfer) listBasic(ctx context.Context, f file) (meta protocol.TransferMetaParams, err error) {
	pattern := literal.Replace(strings.TrimRight(f.from, `/\`))
	top, err := s.glob(ctx, s.src.name, pattern+"/")
	if err != nil || len(top) != 1 {
		return meta, err
	}
	folders, err := s.glob(ctx, s.src.name, pattern+"/**/*/")
	if err != nil {
		return meta, err
	}
	all, err := s.glob(ctx, s.src.name, pattern+"/**/*")
	if err != nil {
		return meta, err
	}
	meta.Folder = true
	below := func(match string) string {
		rest, ok := strings.CutPrefix(match, strings.TrimRight(top[0], `/\`))
		if !ok {
			return match // CheckName rejects it
		}
		if !strings.HasPrefix(top[0], "/") {
			rest = strings.ReplaceAll(rest, `\`, "/")
		}
		return strings.Trim(rest, "/")
	}
	full := make(map[string]bool) // folders that are not empty
	isFolder := make(map[string]bool)
	for _, m := range folders {
		isFolder[below(m)] = true
	}
	for _, m := range all {
		full[path.Dir(below(m))] = true
	}
	for _, m := range all {
		switch name := below(m); {
		case full[name] || name == "":
		case isFolder[name]:
			meta.Problems = append(meta.Problems, protocol.TransferProblem{Path: name, Text: "empty folders cannot be sent one file at a time"})
		default:
			meta.Entries = append(meta.Entries, protocol.TransferEntry{Name: name})
		}
	}
	return meta, nil
}
