package workspace

import "errors"

// WithGrant returns r with one more granted folder, for one call. r is unchanged, and locks of paths are
// shared. The caller closes the result.
func (r *Root) WithGrant(g Grant) (*Root, error) {
	if r.access == WholeDisk {
		return nil, errors.New("every folder is already accessible")
	}
	for _, a := range r.areas {
		if err := a.checkUnchanged(); err != nil {
			return nil, err // reopening it would open another folder
		}
	}
	wide, err := Config{Dir: r.dir, Grants: append([]Grant{g}, r.grants...), ReadOnly: r.readOnly, Private: r.private}.Open()
	if err != nil {
		return nil, err
	}
	wide.locks = r.locks
	return wide, nil
}

// ErrTargetChanged is the error when a path leads elsewhere than when it was examined, because a link
// was changed meanwhile. Nothing was opened.
var ErrTargetChanged = errors.New("APPROVAL_DRIFT: the path leads to another file than the one that was approved. Nothing was done; ask again")

// WithTarget returns r for a path that led to real, which is without symbolic links, when it was
// examined: using a path that leads elsewhere is an [ErrTargetChanged]. It shares the folders of r,
// which alone closes them.
func (r *Root) WithTarget(real string) *Root {
	c := *r
	c.target = real
	return &c
}
