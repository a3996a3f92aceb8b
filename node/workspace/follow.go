package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead/gateway/peer/format"
)

const (
	// maxLinks is the maximum number of symbolic links in a path, as on Linux.
	maxLinks  = 40
	separator = string(os.PathSeparator)
)

// follow resolves all symbolic links of a path, so that a write goes to a link's target, and so
// that absolute links that stay inside and links into a granted folder work, which an os.Root alone
// refuses. The part that does not exist is returned unchanged. The answer may be outdated
// immediately: only the tree's own access is restricted.
func (r *resolver) follow(p Path) (Path, error) {
	real, err := r.followLinks(p)
	switch {
	case err != nil:
		return real, err
	case r.target != "" && real.Abs != r.target:
		return real, ErrTargetChanged
	}
	if a, _, ok := r.areas.find(real.Abs); ok && !r.config.WholeDisk {
		if err := a.checkUnchanged(); err != nil {
			return real, err
		}
	}
	return real, r.checkAllowed(real.Abs)
}

func (r *resolver) followLinks(p Path) (Path, error) {
	done, rest, ok := r.splitAtArea(p.Abs)
	if !ok {
		return p, r.outside(p.Abs, "")
	}
	for links := 0; rest != "" && rest != "."; {
		first, after, _ := strings.Cut(rest, separator)
		switch first {
		case "", ".":
			rest = after
			continue
		// It comes from a link: done contains none, so its parent is the one that the system would
		// use.
		case "..":
			up := filepath.Dir(done)
			if done, rest, ok = r.ascend(up, after); !ok {
				return p, r.outside(p.Abs, filepath.Join(up, after))
			}
			continue
		}
		next := filepath.Join(done, first)
		if long := longName(next); long != "" {
			next = filepath.Join(done, long)
		}
		info, err := r.fs.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			done = filepath.Join(done, rest)
			if _, _, ok := r.splitAtArea(done); !ok {
				return p, r.outside(p.Abs, done)
			}
			break
		}
		if err != nil {
			return p, format.WithoutPath(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done, rest = next, after
			continue
		}
		if links++; links > maxLinks {
			return p, errors.New("too many symbolic links")
		}
		target, err := r.fs.Readlink(next)
		if err != nil {
			return p, format.WithoutPath(err)
		}
		if !filepath.IsAbs(target) {
			rest = filepath.FromSlash(target) + separator + after
			continue
		}
		target = filepath.Clean(target)
		from, in, ok := r.splitAtArea(target)
		if !ok {
			return p, r.outside(p.Abs, target)
		}
		done, rest = from, in+separator+after
	}
	return Path{Abs: done, Outside: !r.inside(done)}, nil
}

// ascend continues in a folder above, which may lie outside. Folders outside are not inspected: only
// the text decides whether the path leads back.
func (r *resolver) ascend(up, after string) (from, rest string, ok bool) {
	if _, _, ok := r.splitAtArea(up); ok {
		return up, after, true
	}
	return r.splitAtArea(filepath.Join(up, after))
}

func (r *resolver) splitAtArea(abs string) (from, rest string, ok bool) {
	abs = r.areas.real(abs)
	if r.config.WholeDisk {
		from = filepath.VolumeName(abs) + separator
		rest, ok = within(from, abs)
		return from, rest, ok
	}
	a, rest, ok := r.areas.find(abs)
	if !ok {
		return "", "", false
	}
	return a.dir, rest, true
}

// outside returns the error for path, which leads to link if that is not empty.
func (r *resolver) outside(path, link string) error {
	if r.config.WholeDisk {
		return fmt.Errorf("'%s' leads to another drive", path)
	}
	return &OutsideError{Path: path, Link: link, Dir: r.config.Dir, Granted: len(r.config.Grants) > 0}
}
