package workspace

import "errors"

// With is r with one more granted folder, for one call. r stays as it is, and a path that is locked in one is locked in both. The caller closes what it
// gets.
func (r *Root) With(g Grant) (*Root, error) {
	if r.access == WholeDisk {
		return nil, errors.New("every folder can be used already")
	}
	for _, a := range r.areas {
		if err := a.check(); err != nil {
			return nil, err // what is opened anew would be another folder
		}
	}
	wide, err := Config{Dir: r.dir, Grants: append([]Grant{g}, r.grants...), ReadOnly: r.readOnly, Private: r.private}.Open()
	if err != nil {
		return nil, err
	}
	wide.locks = r.locks
	return wide, nil
}

// ErrElsewhere says that a path leads elsewhere than it did when it was looked at: a link was changed meanwhile. Nothing was opened.
var ErrElsewhere = errors.New("APPROVAL_DRIFT: the path leads elsewhere than when it was looked at. Nothing was done; ask again")

// Bound is r for a path that led to real, which is without symbolic links, when it was looked at: using one that leads elsewhere is an [ErrElsewhere]. It
// has the folders of r, which alone closes them.
func (r *Root) Bound(real string) *Root {
	c := *r
	c.bound = real
	return &c
}
