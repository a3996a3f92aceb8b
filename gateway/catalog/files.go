package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// Names of the machines' tools for files.
const (
	fsRead   = "fs_read"
	fsWrite  = "fs_write"
	fsList   = "fs_list"
	fsStat   = "fs_stat"
	fsDelete = "fs_delete"
	fsMkdir  = "fs_mkdir"
	fsFetch  = protocol.FetchTool
	fsGlob   = "fs_glob"
	fsGrep   = "fs_grep"
)

// files are the tools for files.
type files struct {
	net      machines
	commands *job.Commands
}

func (f files) entries() []*entry {
	read := func(t protocol.CatalogTool) protocol.CatalogTool {
		t.Mode, t.ReadOnly, t.Idempotent, t.Scopes = OneShot, true, true, []protocol.Scope{protocol.ScopeFilesRead}
		return t
	}
	write := func(t protocol.CatalogTool) protocol.CatalogTool {
		t.Mode, t.Destructive, t.Scopes = OneShot, true, []protocol.Scope{protocol.ScopeFilesWrite}
		return t
	}
	mkdir := write(protocol.CatalogTool{Name: fsMkdir, Title: "Create a folder", Description: "Creates a folder."})
	mkdir.Destructive, mkdir.Idempotent = false, true
	glob := read(protocol.CatalogTool{Name: fsGlob, Title: "Find files", Description: "Finds files by a pattern for paths below path."})
	glob.Mode = ServerStream
	grep := read(protocol.CatalogTool{Name: fsGrep, Title: "Search in files", Description: "Searches files for a regular expression."})
	grep.Mode = ServerStream
	return []*entry{
		f.entry(),
		newEncoded[readIn, readOut](read(protocol.CatalogTool{Name: fsRead, Title: "Read a file", Description: "Reads a file in parts: pass file_id on until done; unused for 5 minutes, it expires. Prefer it to file and to cat with command."}), nil, f.read),
		newEntry(write(protocol.CatalogTool{Name: fsWrite, Title: "Write a file", Description: "Writes a file in parts: pass file_id on; the call with done replaces the file. For several files, use file with batch."}), nil, f.write),
		newEntry(write(protocol.CatalogTool{Name: "fs_edit", Title: "Edit a file", Description: "Replaces exact text in a file."}), nil, f.edit),
		newEntry(read(protocol.CatalogTool{Name: fsList, Title: "List a folder", Description: "Lists a folder."}), nil, forwardFile[listIn, listOut](f.net, fsList, listIn.target)),
		newEntry(read(protocol.CatalogTool{Name: fsStat, Title: "Describe a file", Description: "Returns size, permissions and time of a file, folder or link."}), nil, forwardFile[statIn, statOut](f.net, fsStat, statIn.target)),
		newEntry(write(protocol.CatalogTool{Name: fsDelete, Title: "Delete a file or folder", Description: "Moves a file or folder to Fairlead's trash for 30 days."}), nil, forwardFile[deleteIn, pathOut](f.net, fsDelete, deleteIn.target)),
		newEntry(mkdir, nil, forwardFile[mkdirIn, pathOut](f.net, fsMkdir, mkdirIn.target)),
		newEntry(glob, nil, forwardFile[globIn, globOut](f.net, fsGlob, globIn.target)),
		newEntry(grep, nil, forwardFile[grepIn, grepOut](f.net, fsGrep, grepIn.target)), // without a stream, the interface collects the parts into Matches
	}
}

func (in listIn) target() *Target   { return in.Target }
func (in statIn) target() *Target   { return in.Target }
func (in deleteIn) target() *Target { return in.Target }
func (in mkdirIn) target() *Target  { return in.Target }
func (in globIn) target() *Target   { return in.Target }
func (in grepIn) target() *Target   { return in.Target }

// withoutTarget encodes arguments for a machine, which does not need to know that it is the target.
func withoutTarget(args any) json.RawMessage {
	var fields map[string]json.RawMessage
	json.Unmarshal(protocol.Encode(args), &fields) // args is a struct
	delete(fields, "target")
	return protocol.Encode(fields)
}

// forwardFile calls the machine's tool with the arguments without the target.
func forwardFile[In, Out any](w machines, name string, target func(In) *Target) func(context.Context, *call, In) (Out, string, error) {
	return func(ctx context.Context, x *call, in In) (out Out, message string, err error) {
		node, err := w.resolve(x.principal, target(in))
		if err == nil {
			err = x.run(ctx, node, name, withoutTarget(in), &out)
		}
		return out, summary(name, out), err
	}
}

// part has the fields that the results of fs_read and fs_write have in common.
type part struct {
	FileID string `json:"file_id"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Total  int64  `json:"total"`
	Done   bool   `json:"done"`
	// Collects means that nothing takes effect before the last part.
	Collects bool `json:"collects"`
}

// part carries out one call of a file that is read or written in parts. It returns the machine's
// result as it is, because decoding and encoding a part takes longer than reading it.
func (f files) part(ctx context.Context, x *call, name, fileID string, t *Target, in any) (raw json.RawMessage, out part, err error) {
	if fileID != "" && t != nil {
		return nil, out, protocol.NewFault(protocol.FaultInvalidArgs, "file_id continues a file; leave target out")
	}
	var node protocol.NodeID
	if fileID == "" {
		if node, err = f.net.resolve(x.principal, t); err == nil {
			raw, err = x.runRaw(ctx, protocol.NewToolName(node, name), withoutTarget(in))
		}
	} else {
		var open job.Opened
		if open, err = f.commands.Find(x.principal, fileID, name); err == nil {
			raw, err = x.resumeRaw(ctx, open, withoutTarget(in))
		}
	}
	if err == nil {
		err = protocol.Unmarshal(raw, &out)
	}
	switch {
	case err != nil:
	case fileID == "" && !out.Done:
		x.begun(out.FileID, node, name, "")
	case fileID != "" && out.Done:
		f.commands.Remove(fileID)
	}
	return raw, out, err
}

func (f files) read(ctx context.Context, x *call, in readIn) (json.RawMessage, string, error) {
	raw, out, err := f.part(ctx, x, fsRead, in.FileID, in.Target, in)
	return raw, fmt.Sprintf("%d of %d bytes", out.Offset+out.Size, out.Total), err
}

// isAbsolute reports whether a path is absolute on any system: /x, C:\x or C:/x, \\server\share.
func isAbsolute(path string) bool {
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

// nodeEdit are the arguments of a machine's tool Edit, and edited is its result.
type (
	nodeEdit struct {
		Path           string         `json:"path"`
		OldString      string         `json:"oldString"`
		NewString      string         `json:"newString"`
		ReplaceAll     bool           `json:"replaceAll,omitempty"`
		Edits          []nodeEditStep `json:"edits,omitempty"`
		ExpectedSHA256 string         `json:"expectedSha256,omitempty"`
	}
	nodeEditStep struct {
		OldString  string `json:"oldString"`
		NewString  string `json:"newString"`
		ReplaceAll bool   `json:"replaceAll,omitempty"`
	}
	edited struct {
		Path         string `json:"path"`
		Replacements int    `json:"replacements"`
		Bytes        int64  `json:"bytes"`
		SHA256       string `json:"sha256"`
		OldBytes     int64  `json:"oldBytes"`
		OldSHA256    string `json:"oldSha256"`
	}
)

// edit makes one or several replacements with the machine's tool Edit.
func (f files) edit(ctx context.Context, x *call, in editIn) (out editOut, message string, err error) {
	began := time.Now()
	args, err := in.forNode()
	if err != nil {
		return out, "", err
	}
	node, err := f.net.resolve(x.principal, in.Target)
	if err != nil {
		return out, "", err
	}
	var e edited
	if err := x.run(ctx, node, "Edit", args, &e); err != nil {
		return out, "", inOurWords(err)
	}
	out = editOut{Path: e.Path, EditsApplied: max(len(args.Edits), 1), Total: e.Bytes, SHA256: e.SHA256, OldSize: e.OldBytes, OldSHA256: e.OldSHA256, DurationMs: milliseconds(began)}
	return out, fmt.Sprintf("%d replaced", e.Replacements), nil
}

func (in editIn) forNode() (nodeEdit, error) {
	n := nodeEdit{Path: in.Path, ReplaceAll: in.ReplaceAll, ExpectedSHA256: in.ExpectedSHA256}
	isSingle := in.OldString != nil || in.NewString != nil || in.ReplaceAll
	switch {
	case !isAbsolute(in.Path):
		return n, protocol.NewFault(protocol.FaultInvalidArgs, "path is required, and must be absolute")
	case isSingle && len(in.Edits) > 0:
		return n, protocol.NewFault(protocol.FaultInvalidArgs, "give old_string and new_string, or edits, not both")
	case !isSingle && len(in.Edits) == 0, isSingle && (in.OldString == nil || in.NewString == nil):
		return n, protocol.NewFault(protocol.FaultInvalidArgs, "old_string and new_string are required, or edits")
	case isSingle:
		n.OldString, n.NewString = *in.OldString, *in.NewString
		return n, nil
	}
	for _, e := range in.Edits {
		if e.ExpectedSHA256 != "" {
			if n.ExpectedSHA256 != "" && !strings.EqualFold(n.ExpectedSHA256, e.ExpectedSHA256) {
				return n, protocol.NewFault(protocol.FaultInvalidArgs, "expected_sha256 is that of the file before all edits, so it is the same for all of them")
			}
			n.ExpectedSHA256 = e.ExpectedSHA256
		}
		n.Edits = append(n.Edits, nodeEditStep{e.OldString, e.NewString, e.ReplaceAll})
	}
	return n, nil
}

// inOurWords returns a failure of Edit with the names of the arguments of fs_edit.
func inOurWords(err error) error {
	f, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		return err
	}
	own := *f
	own.Message = strings.NewReplacer("oldString", "old_string", "newString", "new_string", "replaceAll: true", "replace_all", "use Write", "use fs_write", "with Write", "with fs_write", "for Edit", "for fs_edit").Replace(f.Message)
	return &own
}
