package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// placement gives complete files their names below a folder, and retains what they replace.
type placement struct {
	root      *os.Root
	target    *targetFolder // root
	conflict  string
	transfer  protocol.TransferID // empty retains nothing
	onReplace func()              // see [Receiver]; may be nil
	names     createdNames
	result    *Result // gets the problems
	// keepAlive calls f, which can take minutes, and meanwhile shows the gateway that this end is
	// alive.
	keepAlive func(ctx context.Context, f func() error) error

	trash *trashEntry // nil until something is replaced
}

// name renames the part file to its name, or to another one if the name is taken.
func (p *placement) name(ctx context.Context, in *incomingFile) (name string, skipped bool, err error) {
	name = in.name
	conflict := p.conflict
	if p.names.clashes(name, p.root) {
		conflict = protocol.ConflictRename
		defer func() {
			if err == nil && !skipped {
				p.result.addProblem(in.name, fmt.Sprintf("stored as %q: the disk treats its name and that of another file as equal", path.Base(name)))
			}
		}()
	}
	if conflict == protocol.ConflictOverwrite {
		if info, err := p.root.Lstat(name); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			return name, false, errors.New("something that is not a regular file already has this name")
		}
		back := p.retainReplaced(replacedFile{Name: name, Size: in.size, Mtime: in.mtime})
		if err := p.root.Rename(in.part, name); err != nil {
			back()
			return name, false, nameError(err)
		}
		return name, false, nil
	}
	for n := 2; ; n++ {
		err = p.target.renameExclusive(in.part, name)
		switch {
		case !errors.Is(err, fs.ErrExist):
			return name, false, nameError(err)
		case conflict == protocol.ConflictSkip:
			return name, true, nil
		case n > 999:
			return name, false, errors.New("1,000 files with this name already exist")
		}
		same := false // an earlier attempt may have completed the file
		p.keepAlive(ctx, func() error {
			same = p.target.haveSameContent(name, in.part, in.size)
			return nil
		})
		if same {
			return name, true, nil
		}
		name = path.Join(path.Dir(in.name), NumberedName(path.Base(in.name), n))
	}
}

// retainReplaced retains a file that is about to be replaced, and reports a problem if that fails,
// because the person wanted it replaced anyway. back undoes it if nothing replaces the file.
func (p *placement) retainReplaced(line replacedFile) (back func()) {
	back = func() {}
	if p.transfer == "" || !exists(p.root, line.Name) {
		return back
	}
	var err error
	if p.trash == nil {
		if p.onReplace != nil {
			p.onReplace()
		}
		p.trash, err = openTrashEntry(p.root, p.transfer)
	}
	if err == nil {
		back, err = p.trash.add(line)
	}
	if err != nil {
		p.result.addProblem(line.Name, "The previous version could not be saved: "+format.WithoutPath(err).Error())
	}
	return back
}

// closeTrash closes the list of replaced files, and returns their number.
func (p *placement) closeTrash() int {
	if p.trash == nil {
		return 0
	}
	p.trash.list.Close()
	return len(p.trash.files)
}
