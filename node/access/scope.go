package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// Scope is what the file tools of a call can reach.
type Scope struct {
	Root *workspace.Root
	Home string // Fairlead's own data folder, which can never be opened; may be empty
}

// WithFolders returns the scope with folders that the person opened for one call. The caller calls
// done at the end of the call.
func (s Scope) WithFolders(folders []protocol.FolderAccess) (wider Scope, done func(), err error) {
	if len(folders) == 0 {
		return s, func() {}, nil
	}
	// The arguments of a file tool have one path.
	root, err := s.Root.WithGrant(workspace.Grant{Dir: workspace.Unspell(folders[0].Path), ReadOnly: !folders[0].Write})
	if err != nil {
		return s, nil, err
	}
	return Scope{root, s.Home}, func() { root.Close() }, nil
}

// Preview describes a call of a file tool by calling preview. If the call's path lies outside and
// the person could open its folder for this call, the result describes the call with that folder
// open, and names the folder.
func (s Scope) Preview(path string, write bool, preview func(Scope) (protocol.CallPreview, error)) (protocol.CallPreview, error) {
	p, err := preview(s)
	if err != nil || !p.Outside || p.Problem == "" {
		return p, err
	}
	requested, _ := s.Root.Resolve(path) // absolute even when it is refused
	need, ok := FolderFor(s.Root, s.Home, requested.Abs, write)
	if requested.Abs == "" || !ok {
		return p, nil
	}
	folders := []protocol.FolderAccess{need}
	wider, done, err := s.WithFolders(folders)
	if err != nil {
		return p, nil // the folder cannot be opened
	}
	defer done()
	q, err := preview(wider)
	q.Outside, q.Folders = true, folders
	q.Secret = SecretOf(s.Root, workspace.RealPath(requested.Abs))
	return q, err
}

// PreviewRead describes a call that reads a file or folder.
func (s Scope) PreviewRead(path string) (protocol.CallPreview, error) {
	return s.Preview(path, false, func(s Scope) (protocol.CallPreview, error) { return PreviewPath(s.Root, path), nil })
}

// ForCalls returns the function of a tool that runs with the workspace and the folders which the
// person opened for the call.
func ForCalls[In, Out any](s Scope, run func(ctx context.Context, ws *workspace.Root, call Call, in In) (Out, error)) func(context.Context, Call, In) (Out, error) {
	return func(ctx context.Context, call Call, in In) (out Out, err error) {
		scope, done, err := s.WithFolders(call.Folders)
		if err != nil {
			return out, err
		}
		defer done()
		return run(ctx, scope.Root, call, in)
	}
}

// FolderFor returns the folder that a person would have to open to make a path accessible: the path
// itself if it is a folder, else the nearest existing folder above it. ok is false if the path is
// accessible already, and for folders that can never be opened: the program's own data and a whole
// disk.
func FolderFor(ws *workspace.Root, home, path string, write bool) (f protocol.FolderAccess, ok bool) {
	real := workspace.RealPath(path)
	if p, err := ws.At(real); err == nil && !p.Outside || ws.Config().WholeDisk || write && ws.Config().ReadOnly {
		return f, false
	}
	dir := real
	for !isDir(dir) {
		if filepath.Dir(dir) == dir {
			return f, false
		}
		dir = filepath.Dir(dir)
	}
	if own := workspace.RealPath(home); filepath.Dir(dir) == dir || own != "" && (workspace.InFolder(real, own) || workspace.InFolder(dir, own)) {
		return f, false
	}
	return protocol.FolderAccess{Path: workspace.Spell(dir), Write: write, Warning: warning(real, dir)}, true
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// warning says why opening a folder for a path is dangerous, if it is.
func warning(path, dir string) string {
	if place := sandbox.SecretPlace(path); place != "" {
		return "it holds keys or tokens: " + place
	}
	if user, err := os.UserHomeDir(); err == nil && workspace.InFolder(workspace.RealPath(user), dir) {
		return "it holds everything in your home folder"
	}
	for _, system := range []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/var/lib", "/System", "/Library", os.Getenv("SystemRoot")} {
		if system != "" && workspace.InFolder(dir, system) {
			return "it belongs to the system"
		}
	}
	return ""
}

// Call is what a tool gets for a call beside its arguments. The zero value is a call without an
// approval.
type Call struct {
	ID protocol.CallID // repeated in the events of the command that the call starts
	// Caller is the program that made the call; nil for a chat or a window.
	Caller *protocol.ToolCaller
	// Direct reports that the person made the call, not the agent.
	Direct bool
	// Network reports that the person allowed the network for the command.
	Network bool
	// Folders are folders outside the workspace that the person opened for this call. They must be
	// among those that the call's preview named.
	Folders []protocol.FolderAccess
	// Lifts are protected files that the command may change. In Records, it may change what git
	// itself records there.
	Lifts, Records []string
	// Rules are the person's deny rules for the code that the command runs; may be nil.
	Rules *protocol.CommandRules
	// Target is the path without symbolic links that the preview named. If the call's path now
	// leads elsewhere, the call fails with [workspace.ErrTargetChanged]. An empty Target is not
	// checked.
	Target string
	// ExpectedSHA256 makes Write and Edit fail with [workspace.ErrChanged] when the file has
	// another checksum ([workspace.Absent] for no file). An empty one is not checked.
	ExpectedSHA256 string
	// Backup receives the content that Write and Edit are about to replace; may be nil.
	Backup workspace.Backup
	// Progress receives the live output of a command: at most its last 4,000 characters and the
	// number of bytes so far, at most ten times a second. It should not block; may be nil.
	Progress func(tail string, bytes int64)
	// Chunk sends a part of the result of a tool that streams, and blocks until the gateway has it.
	// Parts arrive in order, and none is left out. It is nil if the caller takes no parts. Its error
	// means that nobody reads the result any more.
	Chunk func(ctx context.Context, chunk json.RawMessage) error
	// IdempotencyKey is the same for every attempt of a call and different for every other call;
	// empty if the gateway sent none. A tool that changes another system passes it on, so that a
	// repetition is recognized there.
	IdempotencyKey string
}

// SecretOf returns the name of the secret place, such as ~/.ssh, that a path without symbolic links
// is or lies in. It is empty for other paths, and when the person made that place, or a folder in
// it, the workspace or granted it.
func SecretOf(ws *workspace.Root, path string) string {
	in := false
	for _, p := range sandbox.Places() {
		if !p.Contains(path) {
			continue
		}
		in = true
		if !p.IsPublic(path) && !IsChosen(ws, p, path) {
			return p.Name
		}
	}
	if name := filepath.Base(path); !in && sensitive.SecretName(name) {
		return name
	}
	return ""
}

// IsChosen reports whether a path in a secret place lies in a folder of that place that is the
// workspace or was granted.
func IsChosen(ws *workspace.Root, p sandbox.Place, path string) bool {
	chosen := func(dir string) bool { return p.Contains(dir) && workspace.InFolder(path, dir) }
	return chosen(ws.Dir()) || slices.ContainsFunc(ws.Config().Grants, func(g workspace.Grant) bool { return chosen(g.Dir) })
}

// PreviewPath previews the path of a reading tool. The target of a link counts, not its name.
func PreviewPath(ws *workspace.Root, path string) protocol.CallPreview {
	p, err := ws.Resolve(path)
	preview := protocol.CallPreview{Path: p.String(), Outside: p.Outside}
	if err != nil {
		SetProblem(&preview, err)
		return preview
	}
	real, _, err := ws.Target(p)
	// This includes missing files, so that the answer does not reveal which exist.
	preview.Secret = SecretOf(ws, real.Abs)
	if err == nil {
		preview.Path, preview.Outside = real.String(), real.Outside
		return preview
	}
	_, outside := errors.AsType[*workspace.OutsideError](err)
	preview.Outside = preview.Outside || outside
	problem := ReadError(p, err)
	if preview.Secret == "" && !preview.Outside { // what the call itself would say
		problem = NameLookAlike(ws, p, problem)
	}
	SetProblem(&preview, problem)
	return preview
}

// SetProblem records why a call cannot work, with its code if it has one. A nil error clears it.
func SetProblem(p *protocol.CallPreview, err error) {
	if p.Problem, p.Fault = "", FaultOf(err); err != nil {
		p.Problem = err.Error()
	}
}

// ReadError describes why a file could not be read.
func ReadError(p workspace.Path, err error) error {
	if large, ok := errors.AsType[*workspace.TooLargeError](err); ok {
		return TooLarge(p, "", large.Size, large.Max)
	}
	switch {
	case workspace.IsRefusal(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("Failed to read '%s': no such file", p))
	}
	return toolkit.Failf("Failed to read '%s': %w", p, format.WithoutPath(err))
}

// TooLarge returns an error in GSV's words, with the byte counts.
func TooLarge(p workspace.Path, what string, size, most int64) error {
	if what != "" {
		what += " "
	}
	return protocol.NewFault(protocol.FaultTooLarge, fmt.Sprintf("File too large: '%s' %shas %d bytes, and at most %d are possible", p, what, size, most))
}
